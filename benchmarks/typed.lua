-- For wrk: requests the prefixes of a file (one per line) in order; prints the results as one line of JSON.
-- wrk -s benchmarks/typed.lua http://127.0.0.1:8080 -- prefixes.txt number-of-threads

local started = 0

function setup(thread)
  thread:set("number", started)
  started = started + 1
end

function init(arguments)
  paths = {}
  for line in io.lines(arguments[1]) do paths[#paths + 1] = "/complete?n=10&q=" .. line end
  step = tonumber(arguments[2])
  at = number - step
end

function request()
  at = at + step
  return wrk.format("GET", paths[at % #paths + 1])
end

function done(summary, latency, requests)
  local failed = summary.errors
  io.write(string.format(
    '{"requests": %d, "seconds": %.3f, "p50_ms": %.3f, "p90_ms": %.3f, "p99_ms": %.3f, "p999_ms": %.3f, ' ..
    '"max_ms": %.3f, "broken": %d, "refused": %d, "timeouts": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(90) / 1e3,
    latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3, latency.max / 1e3,
    failed.connect + failed.read + failed.write, failed.status, failed.timeout))
end
