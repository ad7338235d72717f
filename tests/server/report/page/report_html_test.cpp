#include "server/report/page/report_html.h"

#include <fstream>

#include "server/report/page/sections.h"
#include "server/store/rules/create_job.h"
#include "tests/server/report/page/report_fixture.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kHostile =
    "</td></style><script>alert(1)</script><img src=x onerror=alert(2)>\"' onload='alert(3) &lt;";

std::size_t CountOf(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The elements that a report may have; none of them runs or loads anything.
constexpr std::string_view kTags[] = {
    "html",    "head",    "meta",  "title", "style", "body", "main",   "header",     "footer",
    "nav",     "section", "h1",    "h2",    "h3",    "h4",   "p",      "a",          "b",
    "code",    "ul",      "ol",    "li",    "dl",    "dt",   "dd",     "div",        "span",
    "table",   "thead",   "tbody", "tr",    "th",    "td",   "figure", "figcaption", "details",
    "summary", "svg",     "rect",  "line",  "path"};

class HtmlTest : public ReportTest {
 protected:
  // `tag` is from its '<' to before its '>'; no value holds either.
  static void ExpectKnown(const std::string& tag) {
    const std::size_t from = tag.starts_with("</") ? 2 : 1;
    const std::string name = tag.substr(from, tag.find_first_of(" /", from) - from);
    EXPECT_NE(std::ranges::find(kTags, name), std::end(kTags)) << tag;
    for (std::size_t at = tag.find(' '); at != tag.npos;
         at = tag.find(' ', tag.find('"', tag.find('"', at) + 1))) {
      EXPECT_NE(tag.substr(at, 3), " on") << tag;
      EXPECT_NE(tag.substr(at, 5), " src=") << tag;
    }
    EXPECT_EQ(tag.find("href=\"javascript:"), tag.npos) << tag;
  }
  // Checks a report of any job: nothing runs, nothing is loaded, all elements are closed.
  static void ExpectHarmless(const std::string& html) {
    EXPECT_TRUE(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    for (auto at = html.find('<', 2); at != html.npos; at = html.find('<', at + 1)) {
      ExpectKnown(html.substr(at, html.find('>', at) - at));
    }
    for (const std::string_view tag : {"section", "table", "figure", "svg", "div", "p", "li"}) {
      const std::string open = Format("<{}", tag), close = Format("</{}>", tag);
      EXPECT_EQ(CountOf(html, open + ">") + CountOf(html, open + " "), CountOf(html, close)) << tag;
    }
    EXPECT_EQ(CountOf(html, "<style>"), 1u);
    EXPECT_NE(html.find("\"Content-Security-Policy\" content=\"default-src &#39;none&#39;;"),
              html.npos);
  }
};

TEST_F(HtmlTest, SixteenGpusFitIntoOneSmallFile) {
  Judge(MakeJob(SixteenGpus()), true);
  const std::string html = ToHtml(Gather());
  ExpectHarmless(html);
  EXPECT_LT(html.size(), 1'500'000u);
  for (const std::string_view section :
       {"id=\"summary\"", "id=\"usage\"", "id=\"framework\"", "id=\"rules\"", "id=\"each-rule\"",
        "id=\"diagnosis\"", "id=\"method\""}) {
    EXPECT_NE(html.find(section), html.npos) << section;
  }
  EXPECT_NE(
      html.find(
          "Judged with threshold_p95 70 %, threshold_p5 10 %, window 500 samples (4 min 10 s)"),
      html.npos);
  EXPECT_NE(html.find("node-1 · GPU 3"), html.npos);
  EXPECT_NE(html.find("data-label=\"Looks for\""), html.npos) << "on a phone rows are cards";
  EXPECT_GT(CountOf(html, "<svg"), 50u);
}

// The page counts the rules as the diagnosis does, and says which.
TEST_F(HtmlTest, AllRulesButTheOneThatSumsUpAreCounted) {
  Judge(MakeJob(SixteenGpus()), true);
  const Report report = Gather();
  const std::string html = ToHtml(report);
  const std::size_t counted = Catalog().size() - 1;
  EXPECT_NE(report.diagnosis["sentence"].get<std::string>().find(
                Format(" of {} rules found issues", counted)),
            std::string::npos);
  EXPECT_NE(html.find(Format(" of {} rules found issues;", counted)), html.npos);
  EXPECT_NE(html.find("but ProfilerReport"), html.npos);
  EXPECT_NE(html.find("Its numbers stand in <a href=\"#usage\">System usage</a>."), html.npos);
}

TEST_F(HtmlTest, FewStepsAreNotNone) {
  Judge(MakeJob(SixteenGpus()), true);
  Report report = Gather();
  report.diagnosis["confidence"] = "few steps";
  report.diagnosis["steps"] = 14;
  const std::string html = ToHtml(report);
  EXPECT_NE(html.find("Judged by the phases of 14 steps after the first of each rank and what the "
                      "hosts showed; fewer than 20 steps are too few to be sure."),
            html.npos);
  EXPECT_EQ(html.find("no steps were seen"), html.npos);
}

TEST(RulePicture, OfTheTimeToTheFirstStepShowsWhatIsAllowed) {
  const auto picture = [](double seconds) {
    RuleSection rule;
    rule.rule = "MaxInitializationTime";
    rule.answer = {{"evidence", {{"seconds", seconds}, {"threshold_seconds", 1200}}}};
    return RulePicture(Report(), rule).text();
  };
  EXPECT_NE(picture(300).find("until the first step 25.0 % (5 min 00 s)"), std::string::npos)
      << picture(300);
  EXPECT_NE(picture(300).find("also allowed 75.0 % (15 min 00 s)"), std::string::npos);
  EXPECT_NE(picture(2'400).find("more than is allowed 50.0 % (20 min 00 s)"), std::string::npos)
      << picture(2'400);
  EXPECT_EQ(picture(2'400).find("until the first step 50"), std::string::npos);
  EXPECT_EQ(picture(2'400).find("also allowed"), std::string::npos);
}

TEST_F(HtmlTest, HostileWordsStayWords) {
  const std::int64_t job_id = Judge(MakeJob(Small()), false);
  const std::string hostile(kHostile);
  const std::string quoted = Dump(Json(hostile));
  Run("update jobs set job_group = $1", {hostile});
  Run("update nodes set name = $1 || name", {hostile});
  Run(R"(update nodes set facts = jsonb_build_object('gpus', jsonb_build_array(jsonb_build_object('name', $1::text))))",
      {hostile});
  Run("update ranks set facts = jsonb_build_object('framework', $1::text)", {hostile});
  Run("update rule_configs set name = $1 || name", {hostile});
  Run(R"(update rule_states set status = 'IssuesFound', verdict = jsonb_build_object(
        'kind', 'finding', 'sentence', $1::text, 'severity', $1::text, 'evidence',
        jsonb_build_object($1::text, $1::text, 'advice', $1::text,
            'gpus', jsonb_build_array(jsonb_build_object($1::text, $1::text)))))",
      {hostile});
  Run("insert into findings (job_id, rule_config_id, finding, from_us, to_us, node, device, rank, "
      "sentence, evidence) select job_id, rule_config_id, 99, 1, 2, $2, $2, 0, $2, '{}' "
      "from rule_configs where job_id = $1",
      {job_id, hostile});
  const std::string html = ToHtml(Gather());
  ExpectHarmless(html);
  EXPECT_NE(html.find("&lt;script&gt;alert(1)"), html.npos);
  EXPECT_EQ(html.find("onerror=alert(2)>"), html.npos);
}

TEST_F(HtmlTest, SaysTheClockWhatIsNotSeenAndWhatNodesAndRanksTell) {
  Judge(MakeJob(Small()), true);
  Run(R"(update nodes set facts = facts || '{"hooks_missing": "the package was not found"}')");
  Run(R"(update nodes set facts = facts || '{"cores": 192, "cores_allowed": 8, "cpu_quota": 2.5,
         "memory_bytes": 34359738368, "memory_allowed_bytes": 8589934592}')");
  Run(R"(update ranks set facts = facts || '{"loader_thread": "another", "gpu_clock": "off"}')");
  Report report = Gather();
  report.diagnosis["clock"] = "gpu";
  report.diagnosis["unit"] = "gpu_seconds";
  report.diagnosis["named_share"] = 0.875;
  report.diagnosis["missing"] = {"The second process is not seen."};
  report.times.phases = {10, 60, 20, 10};
  report.verdict = JobVerdict::kUnknown;
  const std::string html = ToHtml(report);
  ExpectHarmless(html);
  for (const std::string_view words :
       {"steps are not seen: the package was not found",
        "another thread reads the batches, so waits for data are not seen.", "own clock: off.",
        "cover 87.5 % of the step time.", "What is not seen", "The second process is not seen.",
        "Evaluations in it", "not judged", "2.5 of 192", "8.0 GiB of 32.0 GiB"}) {
    EXPECT_NE(html.find(words), html.npos) << words;
  }
}

TEST_F(HtmlTest, ARunningJobSaysSo) {
  Judge(MakeJob(Small()), false);
  const std::string html = ToHtml(Gather("train", 700));
  EXPECT_NE(html.find("still running."), html.npos);
  ExpectHarmless(html);
}

TEST_F(HtmlTest, ABareJobHasAPage) {
  NewJob made;
  made.name = "bare";
  ASSERT_TRUE(CreateJob(*connection_, made, kOriginUs).ok());
  const std::string html = ToHtml(Gather("bare"));
  ExpectHarmless(html);
  EXPECT_NE(html.find("Nothing was measured of this job yet."), html.npos);
  EXPECT_NE(html.find("No steps were reported"), html.npos);
  EXPECT_NE(html.find("The job is judged by no rule."), html.npos);
}

TEST(Evidence, IsSaidInWordsHoweverDeepItLies) {
  const OrderedJson evidence = {
      {"ranks",
       {{{"rank", 0},
         {"rhythms",
          {{{"every_steps", 50}, {"seconds_each", 2}, {"grew", "checkpoint"}},
           {{"every_steps", 7}, {"seconds_each", 0.5}, {"grew", "other"}}}}}}}};
  const std::string html = EvidenceBlock(evidence, true).text();
  EXPECT_EQ(html.find('{'), html.npos) << html;
  EXPECT_NE(html.find("every steps 50, seconds each 2, grew checkpoint; every steps 7"), html.npos)
      << html;
}

TEST(Evidence, HasNodesInTheOrderInWhichPeopleCount) {
  const auto table = [](const char* first, const char* second) {
    return EvidenceBlock({{"nodes", {{{"node", first}}, {{"node", second}}}}}, true).text();
  };
  const std::string by_name = table("node-10", "node-9"), by_size = table("node-9", "node-10");
  EXPECT_LT(by_name.find("node-9"), by_name.find("node-10"));
  EXPECT_LT(by_size.find("node-9"), by_size.find("node-10"));
}

TEST(Markup, EscapesTextAndAttributes) {
  const Markup made = Element("a", {{"title", "\"><b>"}}, Text("<&>'\x01"));
  EXPECT_EQ(made.text(), "<a title=\"&quot;&gt;&lt;b&gt;\">&lt;&amp;&gt;&#39;</a>");
  EXPECT_EQ(Element("br", Markup()).text(), "<br/>");
}

// The font size of text beside tables, in pixels, by the last CSS rule that names it.
int PrintedSize(std::string_view css, std::string_view name) {
  const std::string_view sheet = css.substr(css.find("@media print"));
  for (auto at = sheet.find(name); at != sheet.npos; at = sheet.find(name, at + 1)) {
    const std::string_view block = sheet.substr(at, sheet.find('}', at) - at);
    const auto size = block.find("font-size:");
    const bool whole = block.size() > name.size() && !std::isalnum(block[name.size()]);
    if (whole && size != block.npos) return std::stoi(std::string(block.substr(size + 10)));
  }
  return 99;
}

TEST(Style, OnPaperWordsAreNoLargerThanATableNeeds) {
  const int table = PrintedSize(ReportStyle(), "table");
  EXPECT_EQ(table, 10);
  for (const std::string_view name : {".note", ".whole", "figcaption", ".chip", ".chart", "dt"}) {
    EXPECT_LE(PrintedSize(ReportStyle(), name), table) << name;
  }
  EXPECT_LE(PrintedSize(ReportStyle(), ".sentence"), table + 1);
}

TEST(Style, OnPaperAPictureStaysWithItsHeading) {
  RuleSection rule;
  rule.rule = "MaxInitializationTime";
  rule.judged = true;
  rule.status = RuleStatus::kIssuesFound;
  rule.answer = {{"verdict", {{"sentence", "It took long."}}},
                 {"share", nullptr},
                 {"active", false},
                 {"evidence", {{"seconds", 2'400.0}, {"threshold_seconds", 1'200}}}};
  Report report;
  report.rules = {rule};
  const std::string html = RuleBlock(report, report.rules[0]).text();
  const auto lead = html.find("<div class=\"lead\"><h3"), end = html.find("</div>", lead);
  ASSERT_NE(lead, html.npos) << html;
  EXPECT_LT(html.find("It took long."), end);
  EXPECT_EQ(html.find("<figure>"), end + 6) << html;
  EXPECT_NE(ReportStyle().find(",.lead,"), std::string_view::npos);
}

// The page's colours are measured for contrast and for colour-blind eyes.
TEST(Style, HasTheColoursOfThePage) {
  std::ifstream file(STEPSCOPE_SOURCE_DIR "/web/src/style.css");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const std::string_view name :
       {"text", "muted", "panel", "threshold", "green", "red", "amber", "series-0", "series-1",
        "series-2", "series-3", "series-4", "series-5"}) {
    const std::string key = Format("--{}: #", name);
    std::string ours(name);
    if (ours.starts_with("series-")) ours = "s" + ours.substr(7);
    std::size_t found = 0;
    for (auto at = page.find(key); at != page.npos; at = page.find(key, at + 1)) {
      const std::string colour = page.substr(at + key.size() - 1, 7);
      EXPECT_NE(ReportStyle().find(Format("--{}:{}", ours, colour)), std::string_view::npos)
          << name << colour;
      ++found;
    }
    EXPECT_EQ(found, 2u) << name;  // light and dark
  }
}

}  // namespace
}  // namespace stepscope::scenarios
