# Shared by check.sh and test.sh: what is needed on a bare Debian or Ubuntu machine. Sourced, not run.

# Installs those of the Debian packages named that are missing. Without root it only says what to install.
install_missing() {
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if ! command -v apt-get >/dev/null; then
    echo "note: no apt-get here; make sure that these are installed: ${missing[*]}" >&2
    return 0
  fi
  if [ "$(id -u)" -ne 0 ]; then
    echo "error: these packages are missing; install them with: sudo apt-get install ${missing[*]}" >&2
    return 1
  fi
  echo "installing ${missing[*]}" >&2
  local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}")
  # Package lists may be missing or old: fetched only if the installation fails without.
  "${install[@]}" >/dev/null 2>&1 || { apt-get update -q >/dev/null && "${install[@]}" >/dev/null; }
}

build_packages=(g++ cmake ninja-build pkg-config libhwy-dev libcli11-dev libfmt-dev nlohmann-json3-dev)
