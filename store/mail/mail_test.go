package mail_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/store/mail"
	"parley/store/mail/mailtest"
)

// certificate is trusted by this process as if an authority had made it.
var certificate *tls.Config

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "parley-mail-")
	if err != nil {
		panic(err)
	}
	var trusted []byte
	if certificate, trusted, err = mailtest.Certificate(); err != nil {
		panic(err)
	}
	file := filepath.Join(dir, "trusted.pem")
	if err := os.WriteFile(file, trusted, 0o600); err != nil {
		panic(err)
	}
	os.Setenv("SSL_CERT_FILE", file)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

const password = "hunter2:/@ é"

// login is what a URL holds for it.
const login = "ana:hunter2%3A%2F%40%20%C3%A9@"

func parse(t *testing.T, url string) *mail.Server {
	t.Helper()
	s, err := mail.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func message() mail.Message {
	return mail.Message{ID: "evt_1", To: "lola@example.com", Subject: "Saldo bajo: 4,99 €", Date: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Text: "El saldo es 4,99 €.\n\n.\n..two\n" + strings.Repeat("long ", 300) + "\n"}
}

// TestSend: over each kind of connection a message arrives as it was written.
func TestSend(t *testing.T) {
	for name, tt := range map[string]struct {
		o   mailtest.Options
		url string
	}{
		"plain":                       {mailtest.Options{}, "smtp://HOST:PORT?from=parley@example.com"},
		"a password, on this machine": {mailtest.Options{User: "ana", Password: password}, "smtp://" + login + "HOST:PORT?from=parley@example.com"},
		"STARTTLS":                    {mailtest.Options{TLS: certificate}, "smtp://HOST:PORT?from=parley@example.com"},
		"STARTTLS and a password":     {mailtest.Options{TLS: certificate, User: "ana", Password: password}, "smtp://" + login + "HOST:PORT?from=parley@example.com"},
		"TLS":                         {mailtest.Options{TLS: certificate, Implicit: true}, "smtps://HOST:PORT/?from=parley%40example.com"},
		"TLS and a password":          {mailtest.Options{TLS: certificate, Implicit: true, User: "ana", Password: password}, "smtps://" + login + "HOST:PORT?from=parley@example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			server := mailtest.Start(t, tt.o)
			s := parse(t, strings.ReplaceAll(tt.url, "HOST:PORT", server.Addr))
			if err := s.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := message()
			if err := s.Send(t.Context(), want); err != nil {
				t.Fatal(err)
			}
			mails := server.Mails()
			if len(mails) != 1 {
				t.Fatalf("%d mails", len(mails))
			}
			m := mails[0]
			if m.Secure != (tt.o.TLS != nil) || m.From != "parley@example.com" || m.To != want.To || m.Subject() != want.Subject || m.Text != want.Text {
				t.Errorf("%+v", m)
			}
			for header, text := range map[string]string{
				"From": m.From, "To": m.To, "Message-Id": "<evt_1@example.com>", "Date": "Sun, 01 Mar 2026 12:00:00 +0000",
				"Auto-Submitted": "auto-generated", "Content-Type": "text/plain; charset=utf-8",
			} {
				if got := m.Header.Get(header); got != text {
					t.Errorf("%s: %q, want %q", header, got, text)
				}
			}
			for line := range strings.Lines(m.Raw) {
				if len(line) > 100 || strings.Trim(line, "\t\n\r !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~") != "" {
					t.Errorf("a line is not fit for travel: %q", line)
				}
			}
		})
	}
}

// TestRefusals: what a server will never take is told from what it may take later,
// and no error shows a password, also when the server repeats it.
func TestRefusals(t *testing.T) {
	open, closed := mailtest.Options{}, mailtest.Options{User: "ana", Password: password}
	for name, tt := range map[string]struct {
		o       mailtest.Options
		login   string
		command string // that is answered
		answer  string // with this
		final   bool
	}{
		"no such address":             {open, "", "RCPT", "550 nobody", true},
		"address full":                {open, "", "RCPT", "452 full", false},
		"sender refused":              {open, "", "MAIL", "553 not from you", true},
		"busy":                        {open, "", "connect", "421 come back", false},
		"no service at all":           {open, "", "connect", "554 go away", false},
		"content refused":             {open, "", ".", "554 spam", true},
		"content later":               {open, "", ".", "451 try again", false},
		"data refused":                {open, "", "DATA", "554 no", true},
		"wrong password":              {closed, "ana:hunter3@", "", "", false},
		"password where none belongs": {open, login, "", "", false},
		"no password":                 {closed, "", "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			server := mailtest.Start(t, tt.o)
			if tt.command != "" {
				server.Say(tt.command, tt.answer)
			}
			err := parse(t, "smtp://"+tt.login+server.Addr).Send(t.Context(), message())
			if err == nil || errors.Is(err, mail.ErrRefused) != tt.final {
				t.Fatalf("%v; final: %v", err, tt.final)
			}
			for _, secret := range []string{"hunter", "aHVudGVy", base64.StdEncoding.EncodeToString([]byte("\x00ana\x00hunter3"))} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("a secret is in %q", err)
				}
			}
			if tt.command != "" { // the next one goes through
				if err := parse(t, "smtp://"+server.Addr).Send(t.Context(), message()); err != nil || len(server.Mails()) != 1 {
					t.Errorf("%v, %d mails", err, len(server.Mails()))
				}
			}
		})
	}
}

// TestPasswordNeedsTLS: away from this machine nothing of a login is sent in the
// clear. The address that means any stands for a server elsewhere.
func TestPasswordNeedsTLS(t *testing.T) {
	server := mailtest.Start(t, mailtest.Options{User: "ana", Password: password})
	_, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	err = parse(t, "smtp://"+login+"0.0.0.0:"+port).Send(t.Context(), message())
	if err == nil || !strings.Contains(err.Error(), "TLS") || errors.Is(err, mail.ErrRefused) || len(server.Mails()) != 0 {
		t.Errorf("%v, %d mails", err, len(server.Mails()))
	}
}

// TestUntrustedCertificate: somebody else's name is not taken.
func TestUntrustedCertificate(t *testing.T) {
	other, _, err := mailtest.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	for scheme, implicit := range map[string]bool{"smtp": false, "smtps": true} {
		server := mailtest.Start(t, mailtest.Options{TLS: other, Implicit: implicit})
		if err := parse(t, scheme+"://"+server.Addr).Send(t.Context(), message()); err == nil || len(server.Mails()) != 0 {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

// TestNothingIsInjected: no text becomes a header, a command or another recipient.
func TestNothingIsInjected(t *testing.T) {
	server := mailtest.Start(t, mailtest.Options{})
	s := parse(t, "smtp://"+server.Addr+"?from=parley@example.com")
	m := message()
	m.Subject = "Low\r\nBcc: eve@example.com\r\n\r\nHello\u2028\x00"
	m.Text = "one\r\n.\r\nMAIL FROM:<eve@example.com>\r\n"
	if err := s.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got := server.Mails()
	if len(got) != 1 || got[0].Header.Get("Bcc") != "" || got[0].Subject() != "Low  Bcc: eve@example.com    Hello" || got[0].Text != "one\n.\nMAIL FROM:<eve@example.com>\n" {
		t.Errorf("%+v", got)
	}
	for _, to := range []string{"", "lola", "Lola <lola@example.com>", "lola@example.com\r\nBcc: eve@example.com", "lola@example.com, eve@example.com",
		"lola@example.com>\r\nRCPT TO:<eve@example.com", "lóla@example.com", "lola@exa mple.com", strings.Repeat("l", 250) + "@example.com", "\"a\nb\"@example.com"} {
		m := message()
		m.To = to
		if err := s.Send(t.Context(), m); !errors.Is(err, mail.ErrRefused) || !errors.Is(err, mail.ErrAddress) {
			t.Errorf("%q: %v", to, err)
		}
	}
	for _, id := range []string{"", "a b", "a>\r\nBcc: eve@example.com", "á"} {
		m := message()
		m.ID = id
		if err := s.Send(t.Context(), m); err == nil {
			t.Errorf("%q names a message", id)
		}
	}
	if n := len(server.Mails()); n != 1 {
		t.Errorf("%d mails", n)
	}
}

// TestParse: what a URL says, and that no error repeats any of it.
func TestParse(t *testing.T) {
	for url, want := range map[string]string{
		"smtp://mail.example.com":                               "mail.example.com:587 parley@mail.example.com",
		"smtps://mail.example.com/":                             "mail.example.com:465 parley@mail.example.com",
		"smtp://127.0.0.1:2525":                                 "127.0.0.1:2525 parley@[127.0.0.1]",
		"smtp://[::1]:2525":                                     "[::1]:2525 parley@[IPv6:::1]",
		"smtp://ana%40example.com:hunter2@m:25":                 "m:25 ana@example.com",
		"smtp://ana:hunter2@m?from=voice@example.com":           "m:587 voice@example.com",
		"http://ana:hunter2@m":                                  "",
		"smtp://":                                               "",
		"smtp://ana:hunter2@":                                   "",
		"smtp://ana@m":                                          "",
		"smtp://:hunter2@m":                                     "",
		"smtp://ana:hunter2%0d%0aQUIT@m":                        "",
		"smtp://ana:hunter2@m/path":                             "",
		"smtp://ana:hunter2@m?from=hunter2":                     "",
		"smtp://ana:hunter2@m?from=Voice%20%3Cv@example.com%3E": "",
		"smtp://ana:hunter2@m?to=v@example.com":                 "",
		"smtp://ana:hunter2@m#x":                                "",
		"smtp://ana:hunter2@m:port":                             "",
		"smtp://ana:hunter2\x7f@m":                              "",
	} {
		s, err := mail.Parse(url)
		switch {
		case err != nil && (want != "" || !errors.Is(err, mail.ErrURL) || strings.Contains(err.Error(), "hunter2")):
			t.Errorf("%q: %v", url, err)
		case err == nil && s.String()+" "+s.From() != want:
			t.Errorf("%q: %s from %s, want %s", url, s, s.From(), want)
		}
	}
}

// TestSilentServer: a server that says nothing holds nobody longer than the context.
func TestSilentServer(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		cancel()
		<-t.Context().Done()
	}()
	if err := parse(t, "smtp://"+ln.Addr().String()).Send(ctx, message()); err == nil || errors.Is(err, mail.ErrRefused) {
		t.Error(err)
	}
}
