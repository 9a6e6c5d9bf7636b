package mail

import (
	"bytes"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"strings"
	"time"
	"unicode"
)

// Message is one mail to one address.
type Message struct {
	// ID names it: letters, digits, "_" and "-". The same message sent again has the
	// same, by which mail programs show one of them.
	ID      string
	To      string
	Subject string // one line; other characters become spaces
	Text    string // lines end with "\n"
	Date    time.Time
}

// encode writes the message as it travels (RFC 5322), in ASCII and short lines.
func (m Message) encode(from string) ([]byte, error) {
	if m.ID == "" || strings.Trim(m.ID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		return nil, fmt.Errorf("mail: %q cannot name a message", m.ID)
	}
	_, host, _ := strings.Cut(from, "@")
	var b bytes.Buffer
	for _, h := range [][2]string{
		{"From", from},
		{"To", m.To},
		{"Subject", mime.QEncoding.Encode("utf-8", strings.Map(printable, m.Subject))},
		{"Date", m.Date.UTC().Format(time.RFC1123Z)},
		{"Message-ID", "<" + m.ID + "@" + host + ">"},
		{"Auto-Submitted", "auto-generated"}, // RFC 3834: nobody's absence answers it
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
	} {
		b.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	if _, err := w.Write([]byte(strings.NewReplacer("\r", "", "\n", "\r\n").Replace(m.Text))); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// printable keeps a header on its line.
func printable(r rune) rune {
	if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
		return ' '
	}
	return r
}
