"""run.py SOURCES FORMAT: the tests that the charm's tests.yaml lists, then juju-verify's, with an option of cluster-status-format."""

import importlib
import os
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCES = os.path.realpath(sys.argv[1])
sys.path[:0] = [os.path.join(SOURCES, path) for path in ("juju-verify/tests/functional", "juju-verify", "zaza", "zaza-openstack-tests")]

import played  # noqa: E402

played.install()


class Absent(type(os)):
    """A client of OpenStack and the like, which these tests import and never use: each of its names is a class."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {})


class Finder:
    NAMES = (
        "aodhclient barbicanclient boto3 cinderclient designateclient glanceclient heatclient hvac juju_wait keystoneauth1 keystoneclient "
        "lxml maas magnumclient manilaclient neutronclient novaclient octaviaclient openstack paramiko pika swiftclient watcherclient").split()

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.NAMES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Absent(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(Finder())

import cos  # noqa: E402
import yaml  # noqa: E402
import zaza  # noqa: E402
import zaza.charm_lifecycle.utils as lifecycle  # noqa: E402
import zaza.model  # noqa: E402

results = []


class Result(unittest.TextTestResult):
    def stopTest(self, test):
        super().stopTest(test)
        said = {"SKIPPED": self.skipped, "FAILED": self.failures, "ERROR": self.errors}
        results.append((next((word for word, tests in said.items() if test in (t for t, _ in tests)), "passed"), test.id()))


def ready():
    for unit in zaza.model.get_units(played.OURS):
        zaza.model.block_until_unit_wl_message_match(unit.entity_id, "Unit is ready.*")
    zaza.model.block_until_all_units_idle()


def test(name):
    suite = unittest.TestLoader().loadTestsFromTestCase(lifecycle.get_class(name))
    before = len(results)
    unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Result).run(suite)
    if len(results) == before:
        results.append(("ERROR", name))


def main(form):
    link = os.environ["DROPIN"] + "/juju"
    with open(link, "w") as file:
        file.write('#!/bin/sh\nexec /usr/bin/python3 %s/played.py "$@"\n' % HERE)
    os.chmod(link, 0o755)
    os.environ["PATH"] = os.environ["DROPIN"] + ":" + os.environ["PATH"]
    threading.Thread(target=cos.serve, daemon=True).start()
    os.chdir(SOURCES + "/charm-ovn-central/src")
    lifecycle.set_base_test_dir("tests")
    zaza.model.set_juju_model("lab")
    tests = lifecycle.get_charm_config()
    states = tests["target_deploy_status"]

    played.ask("deploy", n=3, options={"source": "distro", "cluster-status-format": form})
    played.options[played.OURS] = {"source": "distro", "cluster-status-format": form}
    zaza.model.wait_for_application_states(states=states)
    want = states[played.OURS]
    for unit in played.ask("status").values():
        assert unit["workload"] == want["workload-status"], unit
        assert unit["message"].startswith(want["workload-status-message-prefix"]), unit
    # In place of auto_initialize_no_validation, which talks to vault itself.
    played.changed["issues"] = True
    played.ask("issue")
    ready()
    lifecycle.get_class("zaza.openstack.charm_tests.cos.setup.try_relate_to_cos")()
    for name in tests["tests"]:
        test(name)

    zaza.model.run_action_on_leader("vault", "reissue-certificates")
    ready()
    names = [unit.entity_id for unit in zaza.model.get_units(played.OURS)]
    if names[5:]:  # of tests that failed
        zaza.model.destroy_unit(played.OURS, *names[5:], wait_disappear=True)
    else:
        zaza.model.add_unit(played.OURS, count=5 - len(names), wait_appear=True)
    ready()
    with open(SOURCES + "/juju-verify/tests/functional/tests/tests.yaml") as file:
        for some in yaml.safe_load(file)["tests"]:
            for name in some.get(played.OURS, ()):
                test(name)


try:
    main(sys.argv[2])
finally:
    print("\n== results")
    for one in results:
        print("%-8s %s" % one)
    zaza.clean_up_libjuju_thread()
sys.exit(any(word in ("FAILED", "ERROR") for word, _ in results) or len(results) == 0)
