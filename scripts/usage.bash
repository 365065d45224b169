# What the scripts beside this file share, which read it before they do anything: help, checks
# of arguments, and the exit code of an interruption. Their usage is the comment at their top.

usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; }

case ${1:-} in
-h | --help)
  usage
  exit 0
  ;;
esac

# A program that Ctrl-C ends in order returns 0, and is not done. TERM needs no trap: it ends
# bash at once, by way of the trap of EXIT.
trap 'exit 130' INT

# refuse TEXT: ends a script whose arguments or environment are wrong.
refuse() {
  usage >&2
  echo "$(basename "$0" .sh): $1" >&2
  exit 2
}

# whole WHAT TEXT [LEAST=1]: refuses all but a whole number that is not below LEAST.
whole() {
  if ! [[ $2 =~ ^(0|[1-9][0-9]{0,17})$ ]] || [ "$2" -lt "${3:-1}" ]; then
    refuse "found $1 '$2', expected a whole number from ${3:-1} on"
  fi
}

# most COUNT FOUND: refuses more arguments than the script takes.
most() {
  if [ "$2" -gt "$1" ]; then
    refuse "found $2 arguments, expected $1 at most"
  fi
}

# readable FILE: refuses a file that is not there or cannot be read.
readable() {
  if ! [ -f "$1" ] || ! [ -r "$1" ]; then
    refuse "found no file '$1' to read, expected a list"
  fi
}
