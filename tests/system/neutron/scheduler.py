#!/usr/bin/python3
"""Runs Neutron's own gateway scheduler on a cloud that is only in memory.

Why: a claim to spread gateways better than Neutron is worth something only beside
Neutron's own code, on the same input. Nothing of Neutron is written anew here. Of
Debian's python3-neutron (21.0, which is Zed) these do the work:

  neutron/scheduler/l3_ovn_scheduler.py           OVNGatewayLeastLoadedScheduler
  neutron/services/ovn_l3/plugin.py               schedule_unhosted_gateways
  .../ovn/mech_driver/ovsdb/impl_idl_ovn.py       get_unhosted_gateways and what it asks
  .../ovn/mech_driver/ovsdb/ovn_client.py         get_candidates_for_scheduling

What they would ask of OVSDB, of Neutron's database and of its configuration is
answered from Python's objects at once, and rows are found by their names rather than
by going through the table. So the times are a lower bound of Neutron's.

Standard input is JSON:

  {"chassis": ["c1", ...], "gateways": [["NAME", "NETWORK"], ...],
   "operations": [{"schedule": true}, {"remove": "c1"}, {"return": "c1"}, ...]}

Every chassis is connected to all networks. To schedule is to give each gateway its
first candidates, one after the other, as when routers are made; a chassis that goes
or comes is the event that Neutron acts on. Standard output has one item for each
operation:

  [{"seconds": 0.1, "candidates": {"NAME": ["c1", ...], ...}}, ...]

Candidates are in the order of their priorities, best first. Neutron breaks ties by the
order of a Python set: the same result twice takes PYTHONHASHSEED.
"""
import contextlib
import json
import logging
import sys
import time
import types
from typing import Any

from neutron.common.ovn import constants
from neutron.plugins.ml2.drivers.ovn.mech_driver.ovsdb import impl_idl_ovn
from neutron.plugins.ml2.drivers.ovn.mech_driver.ovsdb import ovn_client
from neutron.scheduler import l3_ovn_scheduler
from neutron.services.ovn_l3 import plugin

Candidate = types.SimpleNamespace  # a row of Gateway_Chassis
Port = types.SimpleNamespace  # a row of Logical_Router_Port


class Northbound(impl_idl_ovn.OvsdbNbOvnIdl):
    """NB as Neutron reads and writes it, without a server."""

    _tables: Any = None  # a property of the parent's, that would ask a server

    def __init__(self, names: list[str]) -> None:
        # The parent would connect to a server; what it asks of rows is left to it.
        self.ports = {name: Port(name=name, gateway_chassis=[], external_ids={}) for name in names}
        # A port that is not scheduled yet has not been made.
        self.made: dict[str, Port] = {}
        self._tables = {
            "Logical_Router_Port": types.SimpleNamespace(rows=self.made),
            "Gateway_Chassis": True,
        }

    def get_gateway_chassis_binding(self, name: str) -> list[str]:
        return [chassis for chassis, _ in self._get_logical_router_port_gateway_chassis(self.ports[name])]

    def get_gateway_chassis_az_hints(self, name: str) -> list[str]:
        return []

    def get_chassis_gateways(self, chassis_name: str) -> list[Candidate]:
        return [c for p in self.made.values() for c in p.gateway_chassis if c.chassis_name == chassis_name]

    def transaction(self, **_named: Any) -> Any:
        # Commands are added to a transaction; here they are done by then.
        return contextlib.nullcontext(set())

    def update_lrouter_port(self, name: str, gateway_chassis: list[str]) -> None:
        """Writes at once what the command of this name does (commands.py, _add_gateway_chassis)."""
        port = self.made.setdefault(name, self.ports[name])
        best = len(gateway_chassis)
        port.gateway_chassis = [
            Candidate(name=f"{name}_{c}", chassis_name=c, priority=best - rank) for rank, c in enumerate(gateway_chassis)
        ]


class Southbound:
    """SB, of which Neutron asks what chassis there are."""

    def __init__(self, chassis: list[str], networks: set[str]) -> None:
        self.chassis, self.networks = list(chassis), networks

    def get_gateway_chassis_from_cms_options(self) -> list[str]:
        return self.chassis

    def get_chassis_and_physnets(self) -> dict[str, set[str]]:
        return {name: self.networks for name in self.chassis}

    def get_chassis_and_azs(self) -> dict[str, list[str]]:
        return {}


class Cloud:
    """Neutron's plugin and client, as far as scheduling goes: their methods are theirs."""

    schedule_unhosted_gateways = plugin.OVNL3RouterPlugin.schedule_unhosted_gateways
    get_candidates_for_scheduling = ovn_client.OVNClient.get_candidates_for_scheduling

    def __init__(self, chassis: list[str], gateways: list[list[str]]) -> None:
        prefix = constants.LRP_PREFIX
        self.networks = {name.removeprefix(prefix): network for name, network in gateways}
        self._nb_ovn = Northbound([name for name, _ in gateways])
        self._sb_ovn = Southbound(chassis, set(self.networks.values()))
        self._ovn_client = self
        self._sb_idl = self._sb_ovn
        self.scheduler = l3_ovn_scheduler.OVNGatewayLeastLoadedScheduler()

    def _get_gateway_port_physnet_mapping(self) -> dict[str, str]:
        return dict(self.networks)

    def schedule(self) -> None:
        """Makes all routers' gateways (_create_lrouter_port in ovn_client.py)."""
        for name in self._nb_ovn.ports:
            network = self.networks[name.removeprefix(constants.LRP_PREFIX)]
            chassis = self.scheduler.select(
                self._nb_ovn, self._sb_ovn, name, candidates=self.get_candidates_for_scheduling(network)
            )
            self._nb_ovn.update_lrouter_port(name, chassis)

    def remove(self, chassis: str) -> None:
        """Only gateways with this candidate are looked at (ChassisEvent in ovsdb_monitor.py)."""
        self._sb_ovn.chassis.remove(chassis)
        self.schedule_unhosted_gateways(event_from_chassis=chassis)

    def add(self, chassis: str) -> None:
        """All gateways are looked at (the same event)."""
        self._sb_ovn.chassis.append(chassis)
        self.schedule_unhosted_gateways(event_from_chassis=None)

    def carry_out(self, operation: dict[str, Any]) -> dict[str, Any]:
        begun = time.perf_counter()
        if "schedule" in operation:
            self.schedule()
        elif "remove" in operation:
            self.remove(operation["remove"])
        else:
            self.add(operation["return"])
        seconds = time.perf_counter() - begun
        candidates = {name: self._nb_ovn.get_gateway_chassis_binding(name) for name in self._nb_ovn.ports}
        return {"seconds": seconds, "candidates": candidates}


def main() -> None:
    logging.disable(logging.CRITICAL)
    asked = json.load(sys.stdin)
    cloud = Cloud(asked["chassis"], asked["gateways"])
    json.dump([cloud.carry_out(operation) for operation in asked["operations"]], sys.stdout)


if __name__ == "__main__":
    main()
