# Shell functions that the scripts in Tools and .ci/run share. Sourced, not run.

# Where SwiftPM builds; GODWIT_SCRATCH=PATH builds somewhere else.
scratch=${GODWIT_SCRATCH:-.build}

# How debug builds for tests are made: the cryptography in C is optimized, for without that it takes a third of their time.
debug_flags=(-Xcc -O2)

step() { printf '\n== %s\n' "$*"; }

note() { printf '   %s\n' "$*"; }

fail() {
  printf '%s: error: %s\n' "${0##*/}" "$1" >&2
  if [ $# -gt 1 ]; then printf '%s: hint: %s\n' "${0##*/}" "$2" >&2; fi
  exit 1
}

# Runs a command after showing it.
show() {
  printf '$ %s\n' "$*"
  "$@"
}

# Seconds since the first argument, a value of EPOCHREALTIME, with two digits after the point. The locale may have
# made the point a comma.
seconds_since() {
  local start=${1/[.,]/} now=${EPOCHREALTIME/[.,]/}
  local hundredths=$(((now - start + 5000) / 10000))
  printf '%d.%02d' $((hundredths / 100)) $((hundredths % 100))
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then DEBIAN_FRONTEND=noninteractive "$@"; else sudo DEBIAN_FRONTEND=noninteractive "$@"; fi
}

has_apt_lists() { compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; }

update_apt_lists() {
  printf '$ apt-get update\n'
  as_root apt-get update -qq || fail "apt's lists of packages cannot be read" "is the network there?"
}

# The system libraries, each by what pkg-config and Debian call it. A script may want more.
libraries=(sqlcipher:libsqlcipher-dev libcrypto:libssl-dev libzstd:libzstd-dev libcurl:libcurl4-openssl-dev expat:libexpat1-dev)

# The Debian packages of the system libraries that are not there.
missing_packages() {
  command -v pkg-config >/dev/null || echo pkg-config
  local library
  for library in "${libraries[@]}"; do
    pkg-config --exists "${library%%:*}" 2>/dev/null || echo "${library##*:}"
  done
}

# Makes sure that the toolchain and the system libraries are there, and installs those libraries that apt can bring.
# SwiftPM reads the libraries' flags when it first resolves the package, so this comes before any `swift build`.
prepare_system() {
  step "system packages"
  command -v swift >/dev/null || fail "there is no swift on the PATH" "install Swift 6.1 or later: https://www.swift.org/install/linux"
  command -v git >/dev/null || fail "there is no git on the PATH, and SwiftPM fetches packages with it" "install git"
  local missing
  mapfile -t missing < <(missing_packages)
  if [ ${#missing[@]} -eq 0 ]; then
    note "pkg-config and these are there: ${libraries[*]#*:}"
    return
  fi
  bring_packages "${missing[@]}"
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -eq 0 ] || fail "apt-get was content, but pkg-config still does not find ${missing[*]}"
}

# Installs Debian packages that are missing, with new lists when those here are too old.
bring_packages() {
  command -v apt-get >/dev/null || fail "these are missing: $*" \
    "those are Debian's names; install what your system calls them, libraries with headers"
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    fail "these are missing, and there is no sudo: $*" "as root: apt-get install $*"
  fi
  has_apt_lists || update_apt_lists
  if ! install_packages "$@"; then
    note "that failed; once more with new lists"
    update_apt_lists
    install_packages "$@" || fail "cannot install $*" "apt-get's own message is above"
  fi
}

# What apt-get says of its progress is left out, what it complains of is not.
install_packages() {
  printf '$ apt-get install %s\n' "$*"
  as_root apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# make_python LOG FOLDER MODULES PACKAGE…: a Python with the packages. Runs pip quietly; what it said goes to the log.
make_python() {
  local log=$1 folder=$scratch/$2 modules=$3
  shift 3
  {
    python3 -m venv "$folder" \
      && "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "$@"
  } >"$log" 2>&1 && "$folder/bin/python" -c "import $modules" 2>>"$log"
}

# bring_conformance_python LOG: sets GODWIT_CONFORMANCE_PYTHON to a Python for Tests/Conformance, made where pip can; tells
# where it cannot, and fails.
bring_conformance_python() {
  local python=$PWD/$scratch/conformance/bin/python
  if [ -n "${GODWIT_CONFORMANCE_PYTHON:-}" ]; then
    note "GODWIT_CONFORMANCE_PYTHON is set"
    return
  elif ! command -v python3 >/dev/null; then
    note "there is no python3, so what needs the formats in Python is skipped"
    return 1
  elif [ -x "$python" ] && "$python" -c 'import cryptography, zstandard, jsonschema' 2>/dev/null; then
    note "cryptography, zstandard and jsonschema are there"
  elif make_python "$1" conformance 'cryptography, zstandard, jsonschema' cryptography zstandard jsonschema; then
    note "installed cryptography, zstandard and jsonschema into $scratch/conformance"
  else
    note "pip cannot install cryptography, zstandard and jsonschema, so what needs them is skipped: $(tail -n 1 "$1")"
    return 1
  fi
  export GODWIT_CONFORMANCE_PYTHON=$python
}
