# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""hosts_test.py POLYHOP: ranks on hosts of their own, and what may happen to the network between them.

A host is a network namespace with an address and a host name; the switch is a bridge in another one. mpirun runs on the
first host and reaches the others as it would with ssh, through an agent.
"""

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import time
import unittest

import _mpi
from _mpi import COMMAND, LONG, MpiTest, executable

# agent ADDRESS COMMAND...
AGENT = """\
#!/bin/sh
host=${1##*.}
shift
exec ip netns exec NAME-$host unshare --uts sh -c "hostname node$host; $*"
"""

NETWORK = "10.77.0.0/24"
OPTIONS = {
    "oob_tcp_if_include": NETWORK,
    "btl_tcp_if_include": NETWORK,
    "btl": "self,tcp",
    "oob_tcp_keepalive_time": "3",
    "oob_tcp_keepalive_intvl": "1",
    "oob_tcp_keepalive_probes": "3",
}
count = itertools.count()


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=True).stdout


def obstacle():
    """Why there can be no hosts here, or nothing."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    if shutil.which("ip") is None or shutil.which("unshare") is None:
        return "there is no `ip` (Debian package iproute2)"
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
    if "Open MPI" not in version:
        return "the launch agent is Open MPI's"
    probe = f"polyhop-{os.getpid()}-probe"
    try:
        ip("netns", "add", probe)
        ip("netns", "exec", probe, "unshare", "--uts", "true")
        ip("-n", probe, "link", "add", "bridge", "type", "bridge")
        ip("-n", probe, "link", "add", "port", "type", "veth", "peer", "name", "eth0", "netns", probe)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"the kernel forbids network namespaces: {getattr(error, 'stderr', error)}".strip()
    finally:
        subprocess.run(["ip", "netns", "delete", probe], capture_output=True, check=False)
    return ""


class Hosts(MpiTest):
    def setUp(self):
        super().setUp()
        self.put("long.toml", LONG)
        self.name = f"polyhop-{os.getpid()}-{next(count)}"
        self.put("agent", AGENT.replace("NAME", self.name))
        (self.folder / "agent").chmod(0o755)
        self.add_namespace("switch")
        self.on("switch", "link", "add", "bridge", "type", "bridge")
        self.on("switch", "link", "set", "bridge", "up")
        for host in (1, 2, 3):
            self.add_host(host)

    def add_namespace(self, name):
        ip("netns", "add", f"{self.name}-{name}")
        self.addCleanup(self.remove_namespace, f"{self.name}-{name}")

    def remove_namespace(self, namespace):
        self.end_all()
        for pid in ip("netns", "pids", namespace).split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        ip("netns", "delete", namespace)

    def on(self, name, *words):
        return ip("-n", f"{self.name}-{name}", *words)

    def inside(self, name, *words):
        return ip("netns", "exec", f"{self.name}-{name}", *words)

    def add_host(self, host):
        self.add_namespace(str(host))
        ip("link", "add", f"port{host}", "netns", f"{self.name}-switch", "type", "veth",
           "peer", "name", "eth0", "netns", f"{self.name}-{host}")
        self.on("switch", "link", "set", f"port{host}", "master", "bridge", "up")
        self.on(str(host), "address", "add", f"10.77.0.{host}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            self.on(str(host), "link", "set", device, "up")

    def connect(self, host, state):
        self.on("switch", "link", "set", f"port{host}", state)

    def launcher(self, hosts):
        """mpirun on the first host, as far as the number of ranks."""
        places = ",".join(f"10.77.0.{host}:1" for host in range(1, hosts + 1))
        words = ["ip", "netns", "exec", f"{self.name}-1", "unshare", "--uts", "sh", "-c", 'hostname node1; exec "$@"']
        words += ["sh", "env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "mpirun"]
        for key, value in {**OPTIONS, "plm_rsh_agent": self.folder / "agent", "orte_tmpdir_base": self.folder}.items():
            words += ["--mca", key, value]
        return [*words, "--mca", "mpi_yield_when_idle", "1", "--bind-to", "none", "--host", places, "-n"]

    def begin_on(self, hosts, *more):
        return self.begin_and_reach_a_checkpoint(hosts, "run", "long.toml", "-o", "out", "--quiet", *more,
                                                 launcher=self.launcher(hosts))

    def ends_well(self, process):
        result = self.end(process)
        self.assertEqual((result.returncode, self.said(result.stderr)), (0, []), result.stderr)
        self.assert_bits()

    def assert_bits(self):
        self.assert_bits_of_the_long_run("out")

    def goes_on(self, hosts):
        self.assert_store_is_whole("out")
        self.done_mpi(hosts, "run", "long.toml", "-o", "out", "--quiet", launcher=self.launcher(hosts))
        self.assert_bits()

    def test_three_hosts_give_the_same_bits(self):
        self.ends_well(self.begin_on(3))

    def test_a_link_that_comes_back_costs_only_time(self):
        process = self.begin_on(3)
        self.connect(3, "down")
        time.sleep(2)  # the others wait for it
        self.assertIsNone(process.poll())
        self.connect(3, "up")
        self.ends_well(process)

    def test_a_link_that_stays_cut_ends_the_job_with_the_names(self):
        process = self.begin_on(3, "--peer-timeout", "2")
        self.connect(3, "down")
        self.until(lambda: not self.ranks_on(1) and not self.ranks_on(2))
        # Only then, since it is not the system that is to find the loss: mpirun need not wait a quarter of an hour for
        # the host that is out of reach.
        for host in (1, 2, 3):
            self.inside(str(host), "sh", "-c", "echo 3 >/proc/sys/net/ipv4/tcp_retries2")
        result = self.end(process)
        self.assertEqual(result.returncode, 5, result.stderr)
        lines = self.said(result.stderr)
        self.assertGreaterEqual(len(lines), 1, result.stderr)
        for line in lines:
            self.assertRegex(line, "rank 2 on node3 has been silent for [0-9]+ s; rank [01] on node[12] waited for it")
        self.assertRegex("\n".join(lines), "along the edge from agent [45] to agent [03]")
        self.connect(3, "up")
        self.goes_on(2)

    def test_a_slow_link_costs_only_time(self):
        limit = ["tc", "-n", f"{self.name}-switch", "qdisc", "add", "dev", "port3", "root", "tbf"]
        limit += ["rate", "100mbit", "burst", "16kb", "latency", "50ms"]
        made = subprocess.run(limit, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            self.skipTest(f"the kernel cannot limit the rate of a link: {made.stderr.strip()}")
        self.ends_well(self.begin_on(3))

    def test_a_host_that_dies_ends_the_job_and_the_others_go_on(self):
        process = self.begin_on(3)
        for pid in self.inside_pids(3):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        result = self.end(process)
        self.assertNotEqual(result.returncode, 0, result.stderr)
        self.goes_on(2)

    def ranks_on(self, host):
        return [pid for pid in self.inside_pids(host) if executable(pid) == str(COMMAND)]

    def inside_pids(self, host):
        return [int(pid) for pid in ip("netns", "pids", f"{self.name}-{host}").split()]


if __name__ == "__main__":
    if why := obstacle():
        Hosts = unittest.skip(why)(Hosts)
        print(f"hosts_test: skipped: {why}")
    _mpi.main()
