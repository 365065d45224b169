package selfplay

import (
	"reflect"
	"strings"
	"testing"
)

// A message of a later build, with a key that this one does not know, is read as if the
// key were not there.
func TestMessageOfLaterBuild(t *testing.T) {
	laterKey = "later"
	defer func() { laterKey = "" }()
	for name, m := range replayMessages() {
		text := encodeMessage(m)
		if !strings.HasPrefix(string(text), `{"later":{`) {
			t.Errorf("%s: found %s", name, text)
		}
		got := reflect.New(reflect.TypeOf(m).Elem()).Interface().(message)
		if err := decodeMessage(text, got); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%s: found %+v, error %v, expected %+v", name, got, err, m)
		}
	}
}
