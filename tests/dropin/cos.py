"""Plays grafana-agent, Prometheus and Grafana, with the data that the charm has published on cos-agent."""

import base64
import contextlib
import ctypes
import http.server
import json
import lzma
import re
import subprocess
import threading
import time
import urllib.parse

import played

ADDRESS = ("127.0.0.1", 3000)
EXPORTER = ("prometheus-ovn-exporter", 9476)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        found = self.answer(urllib.parse.urlparse(self.path))
        self.send_response(404 if found is None else 200)
        self.end_headers()
        self.wfile.write((found or "").encode())

    def log_message(self, *_):
        pass


class Stack(Handler):
    def answer(self, url):
        if url.path == "/api/v1/query":
            found = query(urllib.parse.parse_qs(url.query)["query"][0])
            return json.dumps({"status": "success", "data": {"resultType": "vector", "result": found}})
        if url.path == "/api/search":
            coded = [text for _, config in published() for text in config["dashboards"]]
            return json.dumps([{"title": json.loads(lzma.decompress(base64.b64decode(text)))["title"]} for text in coded])


def published():
    for unit, bag in (played.ask("cos") or {}).items():
        if bag.get("config"):
            yield unit, json.loads(bag["config"])


def query(metric):
    found = []
    for unit, config in published():
        for job in config["metrics_scrape_jobs"]:
            target = job["static_configs"][0]["targets"][0] + job.get("metrics_path", "/metrics")
            text = played.ask("exec", unit=unit, script="curl -s http://" + target)["stdout"]
            for value in re.findall(r"^%s(?:\{.*\})? (\S+)$" % re.escape(metric), text, re.M):
                found.append({"metric": {"instance": unit}, "value": [time.time(), value]})
    return found


def export(unit):
    """The snap of the exporter, on the unit's machine: what its servers count."""
    class Exporter(Handler):
        def answer(self, url):
            lines = []
            for server in ("ovnnb_db", "ovnsb_db"):
                control = "%s/run/%s.ctl" % (unit["dir"], server)
                text = subprocess.run(["ovn-appctl", "-T", "3", "-t", control, "coverage/show"], capture_output=True, text=True).stdout
                for event, total in re.findall(r"^(\w+) .* total: (\d+)$", text, re.M):
                    lines.append('ovn_coverage_total{component="%s",event="%s"} %s\n' % (server, event, total))
            return "".join(lines) if url.path == "/metrics" else None
    with open(unit["namespace"]) as namespace:  # of this thread alone
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), 0) == 0:
            http.server.ThreadingHTTPServer(("0.0.0.0", EXPORTER[1]), Exporter).serve_forever()


def configure(name, unit, exporters):
    """Has an exporter run if its snap is installed, and writes the configuration of grafana-agent."""
    with open(unit["dir"] + "/packages.json") as file:
        installed = EXPORTER[0] in json.load(file).get("Snaps", {})
    if installed and name not in exporters:
        exporters.add(name)
        threading.Thread(target=export, args=(unit,), daemon=True).start()
    if played.offers:
        with open(unit["dir"] + "/etc/grafana-agent.yaml", "w") as file:
            file.write("integrations:\n  prometheus_remote_write:\n  - url: http://%s:%d/api/v1/write\n" % ADDRESS)


def keep():
    exporters = set()
    while True:
        for name, unit in played.ask("status").items():
            with contextlib.suppress(OSError):  # its machine is being made, or removed
                configure(name, unit, exporters)
        time.sleep(1)


def serve():
    threading.Thread(target=keep, daemon=True).start()
    http.server.ThreadingHTTPServer(ADDRESS, Stack).serve_forever()
