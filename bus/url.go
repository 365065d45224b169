package bus

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// schemes are those of the addresses that a connection is made to.
var schemes = []string{"nats", "tls", "ws", "wss"}

// maxServers is the number of addresses in a list, at most.
const maxServers = 64

// CheckURL reports what is wrong with the address of a server, or with a list of
// addresses separated by commas: nats://host:port, or with tls, ws or wss in the place
// of nats. Users and passwords are refused, and not shown in the error, which wraps
// ErrConfig: they belong into files.
func CheckURL(list string) error {
	addresses := strings.Split(list, ",")
	if len(addresses) > maxServers {
		return fmt.Errorf("%w: found %d addresses, expected at most %d", ErrConfig, len(addresses), maxServers)
	}
	for _, address := range addresses {
		if err := checkAddress(strings.TrimSpace(address)); err != nil {
			return fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	return nil
}

func checkAddress(address string) error {
	if strings.Contains(address, "@") {
		return fmt.Errorf("found an address with a user or a password, which lists of processes and logs would show, expected nats://host:port and a file of the secret")
	}
	u, err := url.Parse(address)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" {
		return fmt.Errorf("found %.200q, expected nats://host:port, or with tls, ws or wss in the place of nats", address)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("found %.200q with port %s, expected 1 to 65535", address, port)
		}
	}
	isWeb := u.Scheme == "ws" || u.Scheme == "wss"
	if u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" || !isWeb && strings.Trim(u.Path, "/") != "" {
		return fmt.Errorf("found %.200q, expected nothing after the port", address)
	}
	return nil
}
