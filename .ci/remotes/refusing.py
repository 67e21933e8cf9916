"""An S3 of one bucket that grants each account what its policy says, and counts requests by kind."""

import bisect
import collections
import fnmatch
import hashlib
import threading
import urllib.parse
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

BUCKET = "bucket"
# Of a listing.
PAGE = 1_000


class Policy:
    """Patterns of keys for `get`, `put` and `delete`, and of prefixes for `list`, as in a policy of S3."""

    def __init__(self, **patterns):
        self.patterns = patterns

    def allows(self, action, text):
        return any(fnmatch.fnmatchcase(text, pattern) for pattern in self.patterns.get(action, ()))


class RefusingS3:
    """A server in this process; `accounts` maps access keys to policies, `objects` keys to bytes.

    Each put takes one of `faults`: "half" stores half and answers 500, "lost" stores nothing and says it did, "rotten" stores other
    bytes and says it stored these, "done" stores all and answers 500. A get of one of `endless` has no end; `sent` counts its bytes.
    """

    def __init__(self, accounts):
        self.accounts = accounts
        self.objects = {}
        self.times = {}
        self.faults = []
        self.endless = set()
        self.sent = 0
        self.names = None
        self.requests = collections.Counter()
        self.refused = collections.Counter()
        self.lock = threading.Lock()
        self.server = Server(("127.0.0.1", 0), type("Handler", (Handler,), {"store": self}))
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()

    def definition(self, account):
        return {
            "type": "s3", "provider": "Other", "access_key_id": account, "secret_access_key": "tulip",
            "endpoint": f"http://127.0.0.1:{self.port}", "region": "us-east-1", "force_path_style": "true",
        }

    def put(self, key, content, time=None):
        with self.lock:
            self.names = None
            self.objects[key] = content
            self.times[key] = time or datetime.now(timezone.utc)

    def remove(self, key):
        with self.lock:
            self.names = None
            self.objects.pop(key, None)

    def take_requests(self):
        """The requests since the last call, as in 'LIST 2 PUT 1', those that were refused with an exclamation mark."""
        with self.lock:
            found = [f"{kind} {count}" for kind, count in sorted(self.requests.items())]
            found += [f"{kind}! {count}" for kind, count in sorted(self.refused.items())]
            self.requests.clear()
            self.refused.clear()
        return ", ".join(found) or "-"


class Server(ThreadingHTTPServer):
    daemon_threads = True
    # A client with many connections would wait seconds to repeat one.
    request_queue_size = 256


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store = None

    def log_message(self, *_):
        pass

    def answer(self, code, body=b"", length=None, **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def fail(self, code, name):
        body = f'<?xml version="1.0"?><Error><Code>{name}</Code><Message>{name}</Message></Error>'.encode()
        self.answer(code, b"" if self.command == "HEAD" else body, Content_Type="application/xml")

    def handle_request(self):
        length = int(self.headers.get("Content-Length") or 0)
        content = self.rfile.read(length)
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        bucket, _, key = urllib.parse.unquote(url.path).lstrip("/").partition("/")
        special = next((name for name in ("versioning", "versions", "object-lock", "uploads", "uploadId")
                        if name in query), None)
        action = special or self.action(key)
        prefix = query.get("prefix", "")
        granted = self.policy().allows(action, key or prefix)
        with self.store.lock:
            (self.store.requests if granted else self.store.refused)[
                special.upper() if special else "LIST" if action == "list" else self.command] += 1
        if bucket != BUCKET:
            return self.fail(404, "NoSuchBucket")
        if not granted:
            return self.fail(403, "AccessDenied")
        if special:
            return self.fail(501, "NotImplemented")
        if action == "list":
            return self.answer(200, self.listing(prefix, query), Content_Type="application/xml")
        return getattr(self, action)(key, content)

    do_GET = do_HEAD = do_PUT = do_DELETE = do_POST = handle_request

    def policy(self):
        credential = self.headers.get("Authorization", "").partition("Credential=")[2].partition("/")[0]
        return self.store.accounts.get(credential, Policy())

    def action(self, key):
        if not key:
            return "list"
        return {"GET": "get", "HEAD": "get", "PUT": "put", "DELETE": "delete"}.get(self.command, "post")

    def put(self, key, content):
        if "x-amz-copy-source" in self.headers:
            return self.fail(501, "NotImplemented")
        if self.headers.get("If-None-Match") == "*" and key in self.store.objects:
            return self.fail(412, "PreconditionFailed")
        fault = self.store.faults.pop(0) if self.store.faults else None
        if fault != "lost":
            self.store.put(key, {"half": content[: len(content) // 2], "rotten": flipped(content)}.get(fault, content))
        if fault in ("half", "done"):
            return self.fail(500, "InternalError")
        self.answer(200, ETag=etag(content))

    def get(self, key, _):
        content = self.store.objects.get(key)
        if content is None:
            # Whoever may not list the bucket does not learn what is missing.
            return self.fail(404, "NoSuchKey") if self.policy().allows("list", "") else self.fail(403, "AccessDenied")
        if key in self.store.endless and self.command == "GET":
            return self.pour()
        date = self.store.times[key].strftime("%a, %d %b %Y %H:%M:%S GMT")
        self.answer(200, content, ETag=etag(content), Last_Modified=date)

    def pour(self):
        """As much as the client takes, up to a gigabyte."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for _ in range(16_384):
                self.wfile.write(b"10000\r\n" + bytes(65_536) + b"\r\n")
                self.store.sent += 65_536
        except OSError:
            pass
        self.close_connection = True

    def delete(self, key, _):
        self.store.remove(key)
        self.answer(204)

    def listing(self, prefix, query):
        """A page of a thousand names, as S3 has them."""
        delimiter = query.get("delimiter", "")
        after = query.get("marker") or query.get("continuation-token") or ""
        quote = urllib.parse.quote if query.get("encoding-type") == "url" else str
        folders, entries, last, more = set(), [], "", False
        with self.store.lock:
            if self.store.names is None:
                self.store.names = sorted(self.store.objects)
            names = self.store.names
            for index in range(max(bisect.bisect_left(names, prefix), bisect.bisect_right(names, after)), len(names)):
                key = names[index]
                if not key.startswith(prefix):
                    break
                rest = key[len(prefix):]
                folder = prefix + rest.split(delimiter)[0] + delimiter if delimiter and delimiter in rest else None
                if folder and (folder in folders or after.startswith(folder)):
                    last = key
                    continue
                if len(folders) + len(entries) == PAGE:
                    more = True
                    break
                last = key
                if folder:
                    folders.add(folder)
                    continue
                time = self.store.times[key].strftime("%Y-%m-%dT%H:%M:%S.000Z")
                content = self.store.objects[key]
                entries.append(
                    f"<Contents><Key>{escape(quote(key))}</Key><LastModified>{time}</LastModified>"
                    f"<ETag>{etag(content)}</ETag><Size>{len(content)}</Size></Contents>")
        entries += [f"<CommonPrefixes><Prefix>{escape(quote(name))}</Prefix></CommonPrefixes>" for name in sorted(folders)]
        encoding = "<EncodingType>url</EncodingType>" if quote is not str else ""
        following = f"<NextMarker>{escape(quote(last))}</NextMarker><NextContinuationToken>{escape(last)}</NextContinuationToken>"
        return (
            f'<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>{BUCKET}</Name>'
            f"<Prefix>{escape(quote(prefix))}</Prefix><IsTruncated>{str(more).lower()}</IsTruncated>"
            f"{following if more else ''}{encoding}{''.join(entries)}</ListBucketResult>").encode()


def flipped(content):
    """The content with one bit changed in its middle."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def etag(content):
    return f'"{hashlib.md5(content).hexdigest()}"'
