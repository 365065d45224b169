package bus

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckURL(t *testing.T) {
	for _, good := range []string{"nats://a", "nats://127.0.0.1:4222", "tls://[::1]:4222", "ws://a:80/nats", "wss://a", "nats://a:1, nats://b:2,nats://c", "nats://a/"} {
		if err := CheckURL(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, want := range map[string]string{
		"":                               "expected nats://host:port",
		"foo":                            `found "foo"`,
		"host:4222":                      "expected nats://host:port",
		"http://a":                       "expected nats://host:port",
		"nats://":                        "expected nats://host:port",
		"nats://a,":                      `found ""`,
		"nats://a:0":                     "port 0, expected 1 to 65535",
		"nats://a:65536":                 "port 65536",
		"nats://a:b":                     "expected nats://host:port",
		"nats://a/b":                     "nothing after the port",
		"nats://a?tls=no":                "nothing after the port",
		"nats://word@a":                  "a user or a password",
		"nats://me:pa/word@a":            "a user or a password",
		"me:word@a":                      "a user or a password",
		"nats://a,nats://b:word@c":       "a user or a password",
		"nats:a":                         "expected nats://host:port",
		strings.Repeat("nats://a,", 100): "found 101 addresses",
	} {
		if err := CheckURL(bad); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "word@") {
			t.Errorf("%q: error %v, expected one with %q that shows no password", bad, err, want)
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	f.Add("nats://a:4222,tls://b")
	f.Add("nats://me:word@a")
	f.Fuzz(func(t *testing.T, list string) {
		if err := CheckURL(list); err != nil && !errors.Is(err, ErrConfig) {
			t.Errorf("error %v, expected ErrConfig", err)
		}
	})
}
