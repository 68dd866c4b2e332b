"""Virtual environments below the build folder. An environment is made anew only when its contents change."""

import hashlib
import shutil
import subprocess
import sys

SKIPPED = 77  # ctest's code for a skipped test
OFFLINE = ("NewConnectionError", "Temporary failure in name resolution", "Network is unreachable", "ConnectTimeoutError",
           "ProxyError", "Name or service not known", "Connection refused")


def digest(*files):
    out = hashlib.sha256(sys.version.encode())
    for file in files:
        out.update(str(file).encode() + b"\0" + file.read_bytes())
    return out.hexdigest()


def pip(folder, *words):
    """Installs packages; exits with SKIPPED if they cannot be fetched."""
    command = [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "-q", *words]
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 0:
        return
    print(done.stdout[-6000:])
    if any(sign in done.stdout for sign in OFFLINE):
        print("skipped: the packages cannot be fetched from here")
        sys.exit(SKIPPED)
    sys.exit(1)


def stamped(stamp, content, action):
    """Runs the action unless it ran before for the same content."""
    if stamp.exists() and stamp.read_text() == content:
        return
    stamp.unlink(missing_ok=True)
    action()
    stamp.write_text(content)


def create(folder, requirements, python=sys.executable):
    """A fresh environment of that interpreter with the packages of the file."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([python, "-m", "venv", folder], check=True)
    pip(folder, "-r", requirements)
