#pragma once

#include <string>
#include <string_view>

namespace stepscope {

// Lines of the Prometheus text format, 0.0.4.
class PrometheusText {
 public:
  // HELP and TYPE; `type` is "counter" or "gauge".
  void Describe(std::string_view name, std::string_view type, std::string_view help);
  // `labels` is the text between the braces; may be empty.
  void Sample(std::string_view name, std::string_view labels, double value);
  // Writes HELP, TYPE and the value of a metric without labels.
  void Add(std::string_view name, std::string_view type, std::string_view help, double value);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace stepscope
