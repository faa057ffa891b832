"""The application: finds who answers a path, guards the way there, and counts and logs every request."""

import re
from collections.abc import Awaitable, Callable
from time import perf_counter

from halfword.serve.http.answers import Answers
from halfword.serve.http.asked import INDEX_NAMES, query_fields
from halfword.serve.http.finder import Finder
from halfword.serve.http.guard import AllowedHosts, ApiKeys, Clients, RateLimit
from halfword.serve.http.metrics import Metrics
from halfword.serve.http.pages import Pages
from halfword.serve.http.reply import CLIENT_GONE, Headers, Reply, RequestError, json_reply, refuse
from halfword.serve.http.request import ClientGone, Request
from halfword.serve.live import sharing
from halfword.serve.live.changes import PATH, Changes
from halfword.serve.log import Log
from halfword.serve.models import Models
from halfword.serve.options import ServeOptions

Handler = Callable[[Request], Awaitable[Reply]]

# A page whose origin is not allowed gets the search box, though no completions: its visitors must be able to search.
_FOR_EVERY_PAGE = frozenset({"/halfword.js", "/combobox.js", "/server.js"})
_INDEX_SEARCH = re.compile(f"/{INDEX_NAMES}/_search")
_NO_STORE = [(b"cache-control", b"no-store")]
_PREFLIGHT = [
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-headers", b"authorization, content-type, x-api-key"),
    (b"access-control-max-age", b"86400"),
]
_WRONG_KEYS_PER_SECOND = 1.0  # of each client
_WRONG_KEYS_AT_ONCE = 10.0
_OPEN_ROUTES = ("page", "health")  # answered without a key, and as often as one likes


class App:
    """Serves completions. One instance belongs to one worker process."""

    def __init__(self, options: ServeOptions, models: Models, metrics: Metrics, log: Log) -> None:
        self._options = options
        self._models = models
        self._metrics = metrics
        self._log = log
        self._keys = None if options.api_key_file is None else ApiKeys(options.api_key_file)
        self._rate_limit = None if options.rate_limit is None else RateLimit(options.rate_limit)
        self._wrong_keys = RateLimit(_WRONG_KEYS_PER_SECOND, _WRONG_KEYS_AT_ONCE)
        self._hosts = AllowedHosts(options.hosts)
        self._clients = Clients(options.trusted_proxies)
        self._origins = {origin.encode() for origin in options.allowed_origins}
        finder = Finder(options, metrics)
        key_file = options.live_key_file or options.api_key_file
        self._live_keys = None if options.live is None or key_file is None else ApiKeys(key_file)
        self._changes = None if options.live is None else Changes(options, models, metrics)
        self._routes = self._routes_of(Answers(options, models, finder), Pages(options))

    def _routes_of(self, answers: Answers, pages: Pages) -> dict[str, dict[str, tuple[str, Handler]]]:
        """Return path → method → the route's name in the metrics, and who answers."""
        routes: dict[str, dict[str, tuple[str, Handler]]] = {
            "/complete": {"GET": ("complete", answers.complete), "POST": ("batch", answers.batch)},
            "/suggest": {"GET": ("suggest", answers.suggest)},
            "/_search": {"POST": ("search", answers.search)},
            "/healthz": {"GET": ("health", self._health)},
            "/readyz": {"GET": ("health", self._ready)},
            "/metrics": {"GET": ("metrics", self._metrics_text)},
        }
        if self._changes is not None and self._options.live is not None:
            routes |= {
                PATH: {"PUT": ("live", self._changes.put), "DELETE": ("live", self._changes.delete)},
                "/typed": {"POST": ("live", self._changes.typed)},
                "/accepted": {"POST": ("accepted", self._changes.accepted)},
                "/live": {"GET": ("live", self._changes.listed)},
                sharing.PATH: {"GET": ("live", sharing.Sharing(self._options.live).journal)},
            }
        return routes | {path: {"GET": ("page", handler)} for path, handler in pages.handlers().items()}

    async def __call__(self, request: Request) -> Reply:
        """Answer one request."""
        route, reply = await self._reply_to(request)
        seconds = perf_counter() - request.began
        self._metrics.count_request(route, reply.status, seconds)
        if self._options.log_requests:
            self._log_request(request, route, reply, seconds)
        if self._origins or request.path in _FOR_EVERY_PAGE:
            return reply._replace(headers=[*reply.headers, *self._cors(request)])
        return reply

    def refused(self, error: RequestError) -> Reply:
        """Answer what is no whole request."""
        self._metrics.count_request("other", error.status, 0.0)
        return error.reply()

    async def _reply_to(self, request: Request) -> tuple[str, Reply]:
        route = "other"
        try:
            if request.method == "OPTIONS" and self._origins:
                return route, Reply(204, [], b"")
            route, handler = self._route(request)
            if route != "health":  # which load balancers ask by address
                self._hosts.check(request.header(b"host"))
            if route not in _OPEN_ROUTES:
                self._guard(request, route)
            return route, await handler(request)
        except ClientGone:
            return route, Reply(CLIENT_GONE, [], b"")  # which nobody will read
        except RequestError as error:
            return route, error.reply()
        except Exception as error:
            self._log.fault(error)
            return route, refuse("internal_error", "something went wrong; the server's log says where").reply()

    def _route(self, request: Request) -> tuple[str, Handler]:
        path = "/_search" if _INDEX_SEARCH.fullmatch(request.path) else request.path
        path = PATH if path.startswith(PATH) else path
        methods = self._routes.get(path)
        if methods is None:
            raise refuse("not_found", "there is nothing here; /docs lists what there is")
        found = methods.get("GET" if request.method == "HEAD" else request.method)
        if found is None:
            allowed = ", ".join([*methods, *(["HEAD"] if "GET" in methods else [])])
            message = f"{request.method} is not possible here, only {allowed}"
            raise refuse("method_not_allowed", message, [(b"allow", allowed.encode())])
        return found

    def _guard(self, request: Request, route: str) -> None:
        changes = route == "live" or (route == "accepted" and not self._options.live_accepted)
        keys = self._live_keys if changes else self._keys
        if keys is None and self._rate_limit is None:
            return
        client = self._clients.name(request.peer, request.header(b"x-forwarded-for"))
        if keys is not None:
            self._check_key(keys, request, client)
        if self._rate_limit is not None and route != "metrics":  # which are needed most when many ask
            self._rate_limit.check(client)
            self._rate_limit.count(client)

    def _check_key(self, keys: ApiKeys, request: Request, client: str) -> None:
        # Who guessed wrong too often is not told whether the next guess is right.
        self._wrong_keys.check(client)
        try:
            keys.check(request.header(b"authorization"), request.header(b"x-api-key"))
        except RequestError:
            self._wrong_keys.count(client)
            raise

    def _cors(self, request: Request) -> Headers:
        """Return the headers that let pages of other origins read the reply."""
        if b"*" in self._origins or request.path in _FOR_EVERY_PAGE:
            headers = [(b"access-control-allow-origin", b"*")]
        else:
            origin = request.header(b"origin")
            headers = [(b"vary", b"origin")]  # or a cache would give one page the permission of another
            if origin not in self._origins:
                return headers
            headers.append((b"access-control-allow-origin", origin))
        return headers + _PREFLIGHT if request.method == "OPTIONS" else headers

    async def _health(self, request: Request) -> Reply:
        return json_reply({"status": "alive"}, _NO_STORE)

    async def _ready(self, request: Request) -> Reply:
        content = {"status": "ready", "model": self._models.current.version}
        failure = self._models.public_failure
        if failure is not None:
            content["reload_error"] = failure
        return json_reply(content, _NO_STORE)

    async def _metrics_text(self, request: Request) -> Reply:
        text = self._metrics.text(self._models.current.version, fresh=self._models.failure is None)
        return Reply(200, [(b"content-type", b"text/plain; version=0.0.4; charset=utf-8"), *_NO_STORE], text.encode())

    def _log_request(self, request: Request, route: str, reply: Reply, seconds: float) -> None:
        query = None
        if self._options.log_queries:
            query = query_fields(request.query_string).get(b"q", b"").decode("utf-8", "replace")
        self._log.request(request.method, route, reply.status, seconds, len(reply.body), query)
