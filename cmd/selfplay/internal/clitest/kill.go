package clitest

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"
)

// kills is how often KillThrice kills.
const kills = 3

// KillThrice runs the command line in a process of its own and kills it without
// warning, three times: once it has done a fifth, two fifths and three fifths of its
// work. Done counts the work done, of which there is all. The test binary is the program,
// see [Main]. Where there is nice, it gives way to the test, which has to see in time how
// far it is. On a machine that lets the test wait for long the work may be over all the same before
// the second or the third time; then there are fewer.
func KillThrice(t *testing.T, all int, done func() int, args ...string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{exe, AsSelfplay}, args...)
	if nice, err := exec.LookPath("nice"); err == nil {
		args = append([]string{nice, "-n", "10"}, args...)
	}
	for kill := 1; kill <= kills; kill++ {
		cmd := exec.Command(args[0], args[1:]...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		due := all * kill / 5
		for deadline := time.Now().Add(time.Minute); done() <= due && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		found := done()
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			if kill == 1 {
				t.Fatal("the first kill came too late")
			}
			t.Logf("kill %d came too late", kill)
			return
		}
		if found <= due {
			t.Fatalf("kill %d: found %d done of %d, expected more than %d\n%s", kill, found, all, due, stderr.String())
		}
	}
}
