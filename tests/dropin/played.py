"""libjuju and the command juju, as far as zaza and juju-verify use them, of a model that main.go keeps.

Objects are names: whatever they are asked for, the model is asked. vault, nrpe and grafana-agent are only played.
"""

import asyncio
import json
import os
import re
import socket
import sys
import time
import types

import yaml

OURS, COS = "ovn-central", "cos"
ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
SUBORDINATES = ("nrpe", "grafana-agent")
VAULT = {"default-ttl": "8759h"}  # its option
EXECUTING = 4  # seconds after a change
changed, options, offers = {}, {}, {}  # when applications changed; what was set; the offers that were consumed


class JujuError(Exception):
    def __init__(self, message):
        super().__init__(message)
        self.message, self.errors = message, [message]


class JujuAPIError(JujuError):
    pass


def ask(op, **fields):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.environ["DROPIN"] + "/socket")
        connection.sendall(json.dumps({"op": op, **fields}).encode())
        reply = json.loads(b"".join(iter(lambda: connection.recv(1 << 16), b"")))
    if "error" in reply:
        raise JujuError(reply["error"])
    return reply["value"]


def wait_for(op, **fields):
    return asyncio.to_thread(ask, op, **fields)


class Attributes(dict):
    __getattr__ = dict.__getitem__


class Action:
    def __init__(self, unit, name, status, results, message=""):
        tree = {}
        for key, value in results.items():
            *path, last = key.split(".")
            at = tree
            for part in path:
                at = at.setdefault(part, {})
            at[last] = value
        self.id = self.entity_id = "1"
        self.name, self.receiver, self.status, self._status, self.message, self.results = name, unit, status, status, message, tree
        self.data = {"status": status, "message": message, "results": tree, "completed": "now"}

    async def wait(self):
        return self


class Unit:
    def __init__(self, model, name, number, principal=""):
        self.model, self.name, self.entity_id, self.principal = model, name, name, principal
        self.application = name.split("/")[0]
        self.machine = types.SimpleNamespace(entity_id=str(number), status="started", hostname="machine-%s" % number)
        self.charm_url = "ch:amd64/jammy/%s-1" % self.application

    def now(self):
        """Workload status, message, status of the agent."""
        if self.application == OURS:
            unit = ask("status").get(self.name) or {"workload": "unknown", "message": "", "agent": "lost"}
            return unit["workload"], unit["message"], unit["agent"]
        status, message = {
            "vault": ("active", "Unit is ready") if "issues" in changed else ("blocked", "Vault needs to be initialized"),
            "nrpe": ("blocked", "Nagios server not configured or related"),
            "grafana-agent": ("active", "") if offers else ("blocked", "Missing relation"),
        }[self.application]
        return status, message, "executing" if time.time() - changed.get(self.application, 0) < EXECUTING else "idle"

    workload_status = property(lambda self: self.now()[0])
    workload_status_message = property(lambda self: self.now()[1])
    agent_status = property(lambda self: self.now()[2])

    @property
    def data(self):
        status, message, agent = self.now()
        return {
            "name": self.name, "application": self.application, "charm-url": self.charm_url, "subordinate": bool(self.principal),
            "machine-id": self.machine.entity_id, "workload-status": {"current": status, "message": message}, "agent-status": {"current": agent},
        }

    async def is_leader_from_status(self):
        if self.application == OURS:
            return ask("status").get(self.name, {}).get("leader", False)
        return self.model.applications[self.application].units[0].name == self.name

    async def run(self, command, timeout=None, block=False):
        return Action(self.name, "juju-exec", "completed", await wait_for("exec", unit=self.principal or self.name, script=command))

    async def run_action(self, name, **params):
        if self.application == OURS:
            args = ["%s=%s" % (key, json.dumps(value)) for key, value in params.items()]
            done = await wait_for("run", unit=self.name, action=name, args=args)
            return Action(self.name, name, done["status"], done["results"], done["message"])
        results = {}
        if name == "reissue-certificates":
            await wait_for("issue")
        elif name == "get-admin-password":
            results = {"url": "http://127.0.0.1:3000", "admin-password": "played"}
        else:
            raise JujuError("%s of %s is not played" % (name, self.application))
        changed[self.application] = time.time()
        return Action(self.name, name, "completed", results)


class Application:
    def __init__(self, model, name):
        self.model, self.name, self.entity_id = model, name, name
        self.subordinate = name in SUBORDINATES

    @property
    def units(self):
        ours = sorted((unit["number"], name) for name, unit in ask("status").items())
        if self.name == OURS:
            return [Unit(self.model, name, number) for number, name in ours]
        if self.subordinate:
            return [Unit(self.model, "%s/%d" % (self.name, number), number, name) for number, name in ours]
        return [Unit(self.model, self.name + "/0", 100)]

    @property
    def relations(self):
        nrpe = "nrpe:nrpe-external-master"
        return [types.SimpleNamespace(id=1, matches=lambda *specs: all(spec in (nrpe, "nrpe") for spec in specs))]

    async def get_config(self):
        if self.name == OURS:
            with open(ROOT + "/config.yaml") as file:
                all_options = {name: option.get("default") for name, option in yaml.safe_load(file)["options"].items()}
        else:
            all_options = VAULT
        values = dict(all_options, **options.get(self.name, {}))
        for name, value in values.items():
            if isinstance(all_options[name], bool):
                values[name] = str(value).lower() == "true"
        return {name: {"value": value, "default": all_options[name]} for name, value in values.items()}

    async def set_config(self, values):
        options.setdefault(self.name, {}).update(values)
        if self.name == OURS:
            return await wait_for("config", options=values)
        changed[self.name] = time.time()
        return await wait_for("ttl", ttl=dict(VAULT, **values)["default-ttl"])

    async def reset_config(self, keys):
        config = await self.get_config()
        await self.set_config({key: str(config[key]["default"]) for key in keys})

    async def get_actions(self):
        with open(ROOT + "/actions.yaml") as file:
            return {name: action.get("description") for name, action in yaml.safe_load(file).items()}

    async def add_unit(self, count=1, to=None):
        await wait_for("add", n=count)

    async def destroy_unit(self, *names):
        for name in names:
            await wait_for("remove", unit=name)


class Model:
    def __init__(self, *_, **__):
        self.info = Attributes(name="lab")

    async def connect(self, model_name="lab", *_, **__):
        self.info = Attributes(name=model_name)

    connect_model = connect_current = connect

    async def disconnect(self):
        pass

    def is_connected(self):
        return True

    def connection(self):
        return Attributes(is_open=True)

    @property
    def applications(self):
        names = ["grafana"] if self.info.name == COS else [OURS, "vault", *SUBORDINATES]
        return {name: Application(self, name) for name in names}

    units = property(lambda self: {unit.name: unit for app in self.applications.values() for unit in app.units})
    machines = property(lambda self: {unit.machine.entity_id: unit.machine for unit in self.units.values()})
    remote_applications = property(lambda self: {name: Attributes(name=name, offer_url=url) for name, url in offers.items()})

    def all_units_idle(self):
        return all(unit.agent_status == "idle" for unit in self.units.values())

    async def consume(self, offer_url, application_alias):
        offers[application_alias] = offer_url

    async def integrate(self, one, other):
        changed[one] = time.time()

    async def get_action_output(self, number):
        return {}

    async def get_status(self, *_):
        def of(unit):
            status, message, _ = unit.now()
            return Attributes({"workload-status": Attributes(status=status, info=message), "subordinates": {}})
        apps = {}
        for name, app in self.applications.items():
            units = {} if app.subordinate else {unit.name: of(unit) for unit in app.units}
            apps[name] = Attributes({"units": units, "subordinate-to": [OURS] if app.subordinate else []})
        for name in SUBORDINATES:
            for unit in self.applications[name].units if OURS in apps else ():
                apps[OURS].units[unit.principal]["subordinates"][unit.name] = of(unit)
        return Attributes(applications=apps)


class Controller:
    async def connect(self, *_):
        pass

    disconnect = connect

    async def list_models(self):
        return ["lab", COS]

    async def list_offers(self, model):
        kinds = (("prometheus", "prometheus_remote_write", "provider"), ("grafana", "grafana_dashboard", "requirer"))
        return {"results": [
            Attributes(offer_url="admin/%s.%s" % (COS, name), endpoints=[Attributes(interface=interface, role=role)])
            for name, interface, role in kinds if model == COS
        ]}


def parse_offer_url(url):
    user, model, name = re.fullmatch(r"(.*)/(.*)\.(.*)", url).groups()
    return types.SimpleNamespace(user=user, model=model, application=name)


def install():
    """Makes these the modules of libjuju."""
    own = sys.modules[__name__]
    for name in ("juju", "juju.juju", "juju.client", "juju.client.jujudata", "juju.client._definitions"):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = []
    for name in ("action", "application", "controller", "errors", "machine", "model", "offerendpoints", "unit"):
        sys.modules["juju." + name] = own
        setattr(sys.modules["juju"], name, own)
    sys.modules["juju.juju"].Controller = Controller
    sys.modules["juju"].juju = sys.modules["juju.juju"]
    sys.modules["juju.client._definitions"].ApplicationOfferAdminDetails = Attributes
    sys.modules["juju.client.jujudata"].FileJujuData = Attributes


def command(words):
    """The command juju."""
    if words[0] == "actions":  # of vault
        return {"reissue-certificates": ""}
    if words[0] == "status":
        return {"applications": {OURS: {"units": {name: {"public-address": unit["address"]} for name, unit in ask("status").items()}}}}
    raise SystemExit("juju %s is not played" % words[0])


if __name__ == "__main__":
    print(yaml.safe_dump(command(sys.argv[1:])))
