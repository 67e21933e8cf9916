"""Servers on loopback, each started on a free port and ended by its process: S3 (moto), SFTP (sshd), WebDAV (rclone)."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import boto3
import botocore

TOOLS = Path(sys.executable).parent


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def clean_environment(**more):
    """Without what this machine sets for clouds and proxies."""
    return {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", **more}


def run(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout.strip()


class Server:
    """A server in a process group of its own; `files` and `place` look at what is on it without rclone."""

    def __init__(self, folder, remote, path):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        self.port = free_port()
        self.remote, self.path = remote, path
        self.process = None

    def start(self):
        log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(
            self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder, start_new_session=True,
            env=clean_environment(HOME=str(self.folder), **self.environment()))
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            time.sleep(0.05)
        raise RuntimeError(f"{self.command()[0]} did not start: {(self.folder / 'log').read_text()}")

    def end(self):
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    # What kcbackup calls to reach it.
    program = "rclone"

    def command_for(self, rclone):
        return rclone

    def environment(self):
        return {}

    def place_of(self, test):
        """The remote folder of one test, as rclone names it."""
        return f"{self.remote}:{self.path}{test}"


class Files(Server):
    """A server whose files lie in a folder."""

    def __init__(self, folder, remote, path, size=None):
        super().__init__(folder, remote, path)
        self.data = self.folder / "data"
        self.data.mkdir()
        self.size = size

    def command(self):
        # A file system of this size, which ends with the server.
        if self.size:
            mount = f'mount -t tmpfs -o size={self.size} none "$0" && exec "$@"'
            user = [] if os.getuid() == 0 else ["--map-root-user"]
            return ["unshare", *user, "--mount", "sh", "-c", mount, str(self.data), *self.serve()]
        return self.serve()

    def files(self, test):
        folder = self.data / test
        names = os.listdir(folder) if folder.exists() else []
        return {name: content for name in names if (content := self.read(folder / name)) is not None}

    @staticmethod
    def read(path):
        """None if it was renamed or deleted meanwhile."""
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None

    def place(self, test, name, content):
        (self.data / test).mkdir(exist_ok=True)
        (self.data / test / name).write_bytes(content)

    def versions(self, test, name):
        return None


class SSH(Files):
    """OpenSSH, with a configuration, keys and a port of its own."""

    def __init__(self, folder, size=None, remote="ssh"):
        super().__init__(folder, remote, f"{folder}/data/", size)
        for key in ("host", "client", "stranger"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / key)
        (self.folder / "known").write_text(f"[127.0.0.1]:{self.port} {(self.folder / 'host.pub').read_text()}")
        (self.folder / "config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.folder}/host\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {self.folder}/client.pub\nStrictModes no\nPasswordAuthentication no\n"
            "PermitRootLogin yes\nSubsystem sftp internal-sftp\nMaxStartups 100\nLogLevel VERBOSE\n")
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)

    def serve(self):
        return [shutil.which("sshd") or "/usr/sbin/sshd", "-D", "-e", "-f", str(self.folder / "config")]

    def definition(self, rclone, key="client"):
        import pwd
        return {
            "type": "sftp", "host": "127.0.0.1", "port": self.port, "user": pwd.getpwuid(os.getuid()).pw_name,
            "key_file": self.folder / key, "known_hosts_file": self.folder / "known", "shell_type": "none",
        }


class OpenSSH(SSH):
    """The same for OpenSSH's sftp, as the host `nas` of a configuration of ssh."""

    program = "sftp"

    def __init__(self, folder, size=None, serve="internal-sftp"):
        super().__init__(folder, size, "sftp:nas")
        config = self.folder / "config"
        config.write_text(config.read_text().replace("internal-sftp", serve))

    def command_for(self, rclone, key="client", port=None, host="127.0.0.1"):
        """What reaches it; the user's own configuration is left alone."""
        (self.folder / "ssh").write_text(
            f"Host nas\n HostName {host}\n Port {port or self.port}\n User root\n IdentityFile {self.folder / key}\n"
            f" IdentitiesOnly yes\n UserKnownHostsFile {self.folder / 'known'}\n")
        return f"{shutil.which('sftp')} -F {self.folder / 'ssh'}"


class WebDAV(Files):
    def __init__(self, folder, size=None, remote="dav"):
        super().__init__(folder, remote, "", size)

    def serve(self):
        return [
            str(TOOLS / "rclone"), "serve", "webdav", str(self.data), "--addr", f"127.0.0.1:{self.port}", "--user",
            "ada", "--pass", "tulip", "--config", "/dev/null", "--dir-cache-time", "0",
        ]

    def definition(self, rclone, password="tulip"):
        return {
            "type": "webdav", "url": f"http://127.0.0.1:{self.port}", "vendor": "other", "user": "ada",
            "pass": run(rclone, "obscure", password, env=clean_environment(HOME=str(self.folder))),
        }


class S3(Server):
    """moto; buckets `plain`, `versioned`, and `locked` with a retention. It forgets everything when it ends."""

    def __init__(self, folder, bucket="versioned", remote="s3", checks=False):
        super().__init__(folder, remote, f"{bucket}/")
        self.bucket, self.checks = bucket, checks

    def command(self):
        return [str(TOOLS / "moto_server"), "-H", "127.0.0.1", "-p", str(self.port)]

    def environment(self):
        # From its first request on, it checks who asks.
        return {"INITIAL_NO_AUTH_ACTION_COUNT": "0"} if self.checks else {}

    def start(self):
        super().start()
        if self.checks:
            return self
        self.client = boto3.client(
            "s3", endpoint_url=f"http://127.0.0.1:{self.port}", region_name="us-east-1", aws_access_key_id="ada",
            aws_secret_access_key="tulip", verify=False, config=botocore.config.Config(proxies={}))
        self.client.create_bucket(Bucket="plain")
        self.client.create_bucket(Bucket="versioned")
        self.client.put_bucket_versioning(Bucket="versioned", VersioningConfiguration={"Status": "Enabled"})
        self.client.create_bucket(Bucket="locked", ObjectLockEnabledForBucket=True)
        self.client.put_object_lock_configuration(
            Bucket="locked", ObjectLockConfiguration={
                "ObjectLockEnabled": "Enabled",
                "Rule": {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 30}}})
        return self

    def definition(self, rclone):
        return {
            "type": "s3", "provider": "Other", "access_key_id": "ada", "secret_access_key": "tulip",
            "endpoint": f"http://127.0.0.1:{self.port}", "region": "us-east-1", "force_path_style": "true",
        }

    def files(self, test):
        listing = self.client.list_objects_v2(Bucket=self.bucket, Prefix=f"{test}/")
        return {
            item["Key"].removeprefix(f"{test}/"):
                self.client.get_object(Bucket=self.bucket, Key=item["Key"])["Body"].read()
            for item in listing.get("Contents", [])
        }

    def place(self, test, name, content):
        self.client.put_object(Bucket=self.bucket, Key=f"{test}/{name}", Body=content)

    def versions(self, test, name):
        """How many versions and marks of deletion a file has; nil if the bucket keeps none."""
        if self.bucket == "plain":
            return None
        listing = self.client.list_object_versions(Bucket=self.bucket, Prefix=f"{test}/{name}")
        return len(listing.get("Versions", [])) + len(listing.get("DeleteMarkers", []))
