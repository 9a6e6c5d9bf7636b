// Package mail sends plain text through a mail server (RFC 5321, RFC 5322). What a
// message says cannot change what it is: addresses are checked, and everything else
// is encoded.
package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/smtp"
	"net/textproto"
	"net/url"
	"strings"
	"time"
)

// Error is why a mail was not sent; compare with errors.Is. An error that wraps none
// of these may not come again: try later.
type Error string

func (e Error) Error() string { return string(e) }

const (
	// ErrURL is wrapped by an error that says what.
	ErrURL Error = "not the address of a mail server"
	// ErrAddress: nobody's mail address.
	ErrAddress Error = "not a mail address"
	// ErrRefused: the server will not take this message, now or later (RFC 5321
	// section 4.2.1, 5yz).
	ErrRefused Error = "the mail server refuses the message"
)

// Patience with a server: for a connection, and for a whole message. RFC 5321 section
// 4.5.3.2 would have us wait for minutes; who tries again later need not.
const (
	dialTime    = 10 * time.Second
	sessionTime = time.Minute
)

// Server is a mail server that takes messages for anywhere. It does not change and
// may be used from several goroutines; each message is a connection.
type Server struct {
	host, port     string
	implicit       bool // TLS from the first byte (RFC 8314)
	user, password string
	from           string
	tls            *tls.Config
}

// Parse reads smtp://USER:PASSWORD@HOST:PORT?from=ADDRESS, or smtps:// for TLS from the
// first byte. Without a port it is 587, or 465. Without from, messages come from USER
// if that is a mail address, else from parley@HOST. Errors do not show the URL.
func Parse(text string) (*Server, error) {
	u, err := url.Parse(text)
	if err != nil { // which holds all of it
		return nil, fmt.Errorf("%w: not a URL", ErrURL)
	}
	s := &Server{host: u.Hostname(), port: u.Port(), implicit: u.Scheme == "smtps", user: u.User.Username()}
	s.password, _ = u.User.Password()
	switch {
	case u.Scheme != "smtp" && u.Scheme != "smtps":
		return nil, fmt.Errorf("%w: it begins with smtp:// or smtps://", ErrURL)
	case s.host == "" || u.Path != "" && u.Path != "/" || u.Fragment != "":
		return nil, fmt.Errorf("%w: it is smtp://HOST:PORT", ErrURL)
	case (s.user == "") != (s.password == ""):
		return nil, fmt.Errorf("%w: a user and a password, or neither", ErrURL)
	case strings.ContainsAny(s.user+s.password, "\x00\r\n"):
		return nil, fmt.Errorf("%w: user and password are one line each", ErrURL)
	}
	if s.port == "" {
		s.port = map[bool]string{false: "587", true: "465"}[s.implicit]
	}
	query := u.Query()
	s.from = query.Get("from")
	query.Del("from")
	switch {
	case len(query) > 0:
		return nil, fmt.Errorf("%w: its only parameter is from", ErrURL)
	case s.from != "":
		if CheckAddress(s.from) != nil {
			return nil, fmt.Errorf("%w: from is not a mail address", ErrURL)
		}
	case CheckAddress(s.user) == nil:
		s.from = s.user
	default:
		s.from = "parley@" + domain(s.host)
	}
	s.tls = &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12}
	return s, nil
}

// domain is a host as the right side of an address (RFC 5321 section 4.1.3).
func domain(host string) string {
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return host
	case ip.Is4():
		return "[" + host + "]"
	}
	return "[IPv6:" + ip.WithZone("").String() + "]"
}

// maxAddress is the longest address there is, in bytes (RFC 5321 section 4.5.3.1.3,
// less the angle brackets).
const maxAddress = 254

// CheckAddress says whether text is a bare mail address in ASCII, such as
// ana@example.com.
func CheckAddress(text string) error {
	a, err := mail.ParseAddress(text)
	if err != nil || a.Name != "" || a.Address != text || len(text) > maxAddress {
		return ErrAddress
	}
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' { // and nothing that could end a line or a command
			return ErrAddress
		}
	}
	return nil
}

// String is the server's address, without its credentials.
func (s *Server) String() string { return net.JoinHostPort(s.host, s.port) }

// From is who messages come from.
func (s *Server) From() string { return s.from }

// Check connects and logs in as if there were something to send.
func (s *Server) Check(ctx context.Context) error {
	return s.session(ctx, func(c *smtp.Client) error { return nil })
}

// Send gives the server a message. When it returns nil the server has taken it; when
// it fails the server may have taken it all the same.
func (s *Server) Send(ctx context.Context, m Message) error {
	if CheckAddress(m.To) != nil {
		return fmt.Errorf("%w: %w", ErrRefused, ErrAddress)
	}
	text, err := m.encode(s.from)
	if err != nil {
		return err
	}
	return s.session(ctx, func(c *smtp.Client) error {
		if err := c.Mail(s.from); err != nil {
			return refused("MAIL", err)
		}
		if err := c.Rcpt(m.To); err != nil {
			return refused("RCPT", err)
		}
		w, err := c.Data()
		if err != nil {
			return refused("DATA", err)
		}
		if _, err := w.Write(text); err != nil {
			return refused("DATA", err)
		}
		return refused("DATA", w.Close())
	})
}

// refused explains what a server answered to a command. Its text may hold what we said
// to it, so that only the code is kept.
func refused(command string, err error) error {
	var answer *textproto.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &answer):
		return fmt.Errorf("mail: %s: %w", command, err)
	case answer.Code >= 500:
		return fmt.Errorf("mail: %s: %w: %d", command, ErrRefused, answer.Code)
	}
	return fmt.Errorf("mail: %s: the server answers %d", command, answer.Code)
}

// login fails for now: it is the settings that are wrong, not the message.
func login(command string, err error) error {
	var answer *textproto.Error
	if errors.As(err, &answer) {
		return fmt.Errorf("mail: %s: the server answers %d", command, answer.Code)
	}
	return fmt.Errorf("mail: %s: %w", command, err)
}

// session has f talk to the server over a connection that is safe and logged in.
func (s *Server) session(ctx context.Context, f func(*smtp.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, sessionTime)
	defer cancel()
	dialer := &net.Dialer{Timeout: dialTime}
	raw, err := dialer.DialContext(ctx, "tcp", s.String())
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	defer raw.Close()
	defer context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) })() // what waits fails at once
	conn := raw
	if s.implicit {
		conn = tls.Client(raw, s.tls)
	}
	c, err := smtp.NewClient(conn, s.host)
	if err != nil {
		return login("connect", err)
	}
	if ip, _, err := net.SplitHostPort(raw.LocalAddr().String()); err == nil {
		_ = c.Hello(domain(ip)) // a server that minds says so again below
	}
	if err := s.prepare(c); err != nil {
		return err
	}
	if err := f(c); err != nil {
		return err
	}
	_ = c.Quit() // what was to be done is done
	return nil
}

// prepare makes the connection safe and logs in. A password is sent over TLS, or to
// this machine.
func (s *Server) prepare(c *smtp.Client) error {
	if !s.implicit {
		switch offered, _ := c.Extension("STARTTLS"); {
		case offered:
			if err := c.StartTLS(s.tls); err != nil {
				return login("STARTTLS", err)
			}
		case s.user != "" && !s.local():
			return errors.New("mail: the server offers no TLS, and a password is not sent without it")
		}
	}
	if s.user == "" {
		return nil
	}
	if offered, _ := c.Extension("AUTH"); !offered {
		return errors.New("mail: the server takes no password")
	}
	if err := c.Auth(plain{s.user, s.password}); err != nil {
		return login("AUTH", err)
	}
	return nil
}

// local says whether the server is on this machine.
func (s *Server) local() bool {
	ip, err := netip.ParseAddr(s.host)
	return s.host == "localhost" || err == nil && ip.IsLoopback()
}

// plain logs in (RFC 4616). The library's own would refuse this machine under some of
// its names; prepare has seen to TLS.
type plain struct{ user, password string }

// Start implements smtp.Auth.
func (p plain) Start(*smtp.ServerInfo) (string, []byte, error) {
	return "PLAIN", []byte("\x00" + p.user + "\x00" + p.password), nil
}

// Next implements smtp.Auth.
func (p plain) Next(_ []byte, more bool) ([]byte, error) {
	if more {
		return nil, errors.New("the server asks for more than a password")
	}
	return nil, nil
}
