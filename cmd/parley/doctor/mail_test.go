package doctor

import (
	"strings"
	"testing"

	"parley/cmd/parley/config"
	"parley/store/mail/mailtest"
)

func TestDoctorMail(t *testing.T) {
	server := mailtest.Start(t, mailtest.Options{User: "ana", Password: "hunter2"})
	for url, want := range map[string]string{
		"": "ok: off",
		"smtp://ana:hunter2@" + server.Addr + "?from=v@example.com": "ok: from v@example.com",
		"smtp://ana:hunter3@" + server.Addr:                         "warn: does not let us in",
		"smtp://" + server.Addr + "/hunter2":                        "fail: not the address",
	} {
		f := checkMail(t.Context(), &config.Config{SMTPURL: url})
		judge(t, f, want)
		if strings.Contains(f.Detail+f.Fix, "hunter") {
			t.Errorf("a password is shown: %+v", f)
		}
	}
	if n := len(server.Mails()); n != 0 {
		t.Errorf("%d mails", n)
	}
}
