"""Runs test modules of the Kubernetes Python client against the cluster of KUBECONFIG.

usage: run.py FOLDER PATTERN MODULE...

FOLDER is the unpacked source archive of the client. PATTERN limits the tests to those whose name contains it. Prints one JSON
object: how many passed and were skipped, and which failed with what.

The tests ask a module e2e_test.base, which is not published with them, how to reach the cluster; it is supplied here.
"""

import asyncio
import json
import sys
import types
import unittest


def supply(package, configuration):
    """Makes `package`.e2e_test.base importable."""
    folder = types.ModuleType(f"{package}.e2e_test")
    folder.__path__ = []
    base = types.ModuleType(f"{package}.e2e_test.base")
    base.get_e2e_configuration = configuration
    folder.base = base
    sys.modules[folder.__name__] = folder
    sys.modules[base.__name__] = base


def configuration():
    from kubernetes import client, config

    made = client.Configuration()
    config.load_kube_config(client_configuration=made)
    return made


def asynchronous_configuration():
    from kubernetes.aio import client, config

    made = client.Configuration()
    asyncio.run(config.load_kube_config(client_configuration=made))
    return made


class Result(unittest.TextTestResult):
    """Counts the tests that passed, too."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main():
    folder, pattern, *modules = sys.argv[1:]
    sys.path.insert(0, folder)
    supply("kubernetes", configuration)
    supply("kubernetes.aio", asynchronous_configuration)
    loader = unittest.TestLoader()
    if pattern:
        loader.testNamePatterns = [f"*{pattern}*"]
    tests = loader.loadTestsFromNames(modules)
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=2, resultclass=Result).run(tests)
    failed = [{"name": test.id(), "message": message} for test, message in result.failures + result.errors]
    json.dump({"passed": result.passed, "skipped": len(result.skipped), "failed": failed}, sys.stdout)


main()
