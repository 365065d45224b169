package cli

import (
	"os"
	"os/user"
	"strconv"
)

// Person is who runs the command.
func Person() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	} else if id := os.Getuid(); id >= 0 { // a user without a name, as in a container
		name = strconv.Itoa(id)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return name + "@" + host
}
