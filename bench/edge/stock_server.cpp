// A plain cpp-httplib server, as in any tutorial, that bench/edge compares the service with.

#include <httplib.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

using httplib::Request;
using httplib::Response;

constexpr std::size_t kMostBody = 8 << 20;

void AddRoutes(httplib::Server& server) {
  server.Get("/healthz", [](const Request&, Response& response) {
    response.set_content(R"({"status":"ok"})", "application/json");
  });
  server.Get(R"(/jobs/([^/]+))", [](const Request& request, Response& response) {
    response.set_content(request.matches[1], "text/plain");
  });
  server.Get("/large", [](const Request&, Response& response) {
    response.set_content(std::string(1 << 20, 'x'), "text/plain");
  });
  server.Get("/headers", [](const Request& request, Response& response) {
    response.set_content(request.get_header_value("Authorization") + "\n" +
                             request.get_header_value("X-Probe") + "\n" +
                             request.get_header_value("REMOTE_ADDR"),
                         "text/plain");
  });
  server.Post("/size", [](const Request& request, Response& response) {
    response.set_content(std::to_string(request.body.size()), "text/plain");
  });
  server.Post("/json", [](const Request& request, Response& response) {
    response.set_content(nlohmann::json::parse(request.body).dump(), "application/json");
  });
}

// Routes whose handlers have faults of their own.
void AddFaults(httplib::Server& server) {
  server.Get("/fault", [](const Request&, Response& response) {
    response.set_content(std::string("select secret from tokens").substr(1'000), "text/plain");
  });
  server.Get("/provider-fault", [](const Request&, Response& response) {
    response.set_content_provider(
        100, "text/plain",
        [](std::size_t, std::size_t, httplib::DataSink&) { return std::string("x").at(1) == 'x'; });
  });
}

}  // namespace

// stock_server PORT [FOLDER [tuned]]: listens on 127.0.0.1, serves FOLDER below /static.
int main(int count, char** words) {
  if (count < 2) return 2;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);

  httplib::Server server;
  server.set_payload_max_length(kMostBody);
  AddRoutes(server);
  AddFaults(server);
  if (count > 2) server.set_mount_point("/static", words[2]);
  if (count > 3) {
    server.set_tcp_nodelay(true);
    server.set_keep_alive_max_count(1'000'000'000);
  }
  std::thread stopper([&] {
    int number = 0;
    sigwait(&set, &number);
    server.stop();
  });
  const bool listened = server.listen("127.0.0.1", std::atoi(words[1]));
  std::fprintf(stderr, "listen returned %d\n", listened);
  std::_Exit(listened ? 0 : 1);  // the other thread may still wait for its signal
}
