#include "server/api/http/csv.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr std::string_view kColumns[] = {"name", "value"};

std::string Lines(std::string_view text) {
  Csv csv(kColumns);
  csv.Text(text).Real(1.5).EndRow();
  return std::move(csv).ToReply("table.csv").body;
}

TEST(Csv, QuotesWhatWouldEndACell) {
  EXPECT_EQ(Lines("plain"), "name,value\r\nplain,1.5\r\n");
  EXPECT_EQ(Lines("a,b"), "name,value\r\n\"a,b\",1.5\r\n");
  EXPECT_EQ(Lines("say \"a\"\nb"), "name,value\r\n\"say \"\"a\"\"\nb\",1.5\r\n");
}

TEST(Csv, AFormulaStaysText) {
  for (const std::string_view formula : {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "|cmd"}) {
    EXPECT_EQ(Lines(formula), "name,value\r\n'" + std::string(formula) + ",1.5\r\n");
  }
  EXPECT_EQ(Lines("=a,b"), "name,value\r\n\"'=a,b\",1.5\r\n");
}

TEST(Csv, AnUnknownCellIsEmpty) {
  Csv csv(kColumns);
  csv.None().Int(7).EndRow();
  EXPECT_EQ(std::move(csv).ToReply("x").body, "name,value\r\n,7\r\n");
}

TEST(CsvOfObjects, HasAColumnForEachMemberOfAny) {
  OrderedJson objects = OrderedJson::array();
  objects.push_back(
      {{"a", 1}, {"deep", {{"b", nullptr}}}, {"list", {1, 2}}, {"names", {"x", "=y"}}});
  objects.push_back({{"c", true}, {"a", "=t"}});
  EXPECT_EQ(CsvOfObjects(objects, "x").body, "a,deep.b,names,c\r\n1,,x; =y,\r\n'=t,,,true\r\n");
  EXPECT_EQ(CsvOfObjects(OrderedJson::array(), "x").body, "");
}

TEST(WantsCsv, TheParameterDecidesBeforeTheHeader) {
  Request request;
  EXPECT_FALSE(WantsCsv(request, ""));
  EXPECT_TRUE(WantsCsv(request, "csv"));
  request.headers = {{"accept", "text/csv, application/json;q=0.5"}};
  EXPECT_TRUE(WantsCsv(request, ""));
  EXPECT_FALSE(WantsCsv(request, "json"));
  request.headers = {{"accept", "application/json, text/csv"}};
  EXPECT_FALSE(WantsCsv(request, ""));
}

}  // namespace
}  // namespace stepscope
