package trunk

import (
	"fmt"
	"strings"
	"testing"

	"parley/sip/dialog"
)

func TestCredentialsAreNotPrinted(t *testing.T) {
	c := Config{Name: "t", Auth: dialog.Credentials{Username: "u", Password: "hunter2"}, Inbound: dialog.Credentials{Username: "u", Password: "hunter2"}}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if out := fmt.Sprintf(format, c); strings.Contains(out, "hunter2") {
			t.Errorf("%s prints %s", format, out)
		}
	}
}
