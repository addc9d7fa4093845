// See TraceFile.h. The format: "Trace Event Format", complete events ("ph": "X"), times in microseconds.
#include "TraceFile.h"

#include "Files/OutputFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace xlc::runtime {

void writeTrace(const std::string &path, const std::vector<RankTrace> &ranks) {
  OutputFile file(path, Devices::WrittenTo);
  int64_t origin = INT64_MAX;
  for (const RankTrace &rank : ranks)
    for (const TraceEvent &event : rank.all)
      origin = std::min(origin, event.begin);
  auto write = [&](const std::string &text) { file.write(text); };
  write("{\"traceEvents\":[\n");
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    write(fmt::format("{}{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":\"rank {}\"}}}}",
                      rank ? ",\n" : "", rank, rank));
    for (plan::Stream stream : plan::EnumValuesStream()) // a row for each, in this order
      write(
          fmt::format(",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}",
                      rank, (int)stream, plan::EnumNameStream(stream)));
    for (const TraceEvent &event : ranks[rank].all)
      write(fmt::format(
          ",\n{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f}}}",
          nlohmann::json(event.name).dump(), event.kind, rank, (int)event.stream, (event.begin - origin) / 1e3,
          (event.end - event.begin) / 1e3));
  }
  uint64_t dropped = 0;
  for (const RankTrace &rank : ranks)
    dropped += rank.dropped;
  write(fmt::format("\n],\"otherData\":{{\"dropped_events\":{}}}}}\n", dropped));
  file.publish();
}

} // namespace xlc::runtime
