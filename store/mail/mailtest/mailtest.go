// Package mailtest is a mail server to test senders with: it speaks SMTP (RFC 5321)
// over real connections, with TLS and a password if need be, says what it is told to
// say, and keeps what it was given.
package mailtest

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"net"
	"net/mail"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Options say what a server asks for.
type Options struct {
	// TLS is offered with STARTTLS; nil: there is none.
	TLS *tls.Config
	// Implicit: TLS is not offered but there from the first byte.
	Implicit bool
	// User and Password must be given, if there are any, before a mail is.
	User, Password string
}

// Server is a running mail server.
type Server struct {
	Addr string // on loopback

	o     Options
	mu    sync.Mutex
	mails []Mail
	says  map[string][]string
}

// Mail is what somebody sent.
type Mail struct {
	From, To string // of the envelope
	Header   mail.Header
	Text     string // decoded, lines end with "\n"
	Raw      string // as it travelled
	Secure   bool   // over TLS
}

// Subject is the mail's subject, decoded.
func (m Mail) Subject() string {
	s, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		return err.Error()
	}
	return s
}

// Start runs a server until the test ends.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Addr: ln.Addr().String(), o: o, says: map[string][]string{}}
	var wg sync.WaitGroup
	var open sync.Map
	wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			open.Store(conn, true)
			wg.Go(func() {
				defer open.Delete(conn)
				defer conn.Close()
				s.serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		open.Range(func(conn, _ any) bool { conn.(net.Conn).Close(); return true })
		wg.Wait()
	})
	return s
}

// Say has the server give these answers to the next commands of a name, one each, in
// place of its own; "." is the end of a message, "connect" the greeting.
func (s *Server) Say(command string, answers ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.says[command] = append(s.says[command], answers...)
}

// told is the next answer to a command, if one was set.
func (s *Server) told(command string) (answer string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.says[command]
	if len(list) == 0 {
		return "", false
	}
	s.says[command] = list[1:]
	return list[0], true
}

// Mails are those taken so far.
func (s *Server) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

// talk is one connection.
type talk struct {
	*Server
	conn             net.Conn
	text             *textproto.Conn
	secure, loggedIn bool
	from, to         string
}

func (s *Server) serve(conn net.Conn) {
	c := &talk{Server: s, conn: conn}
	if s.o.Implicit {
		c.conn, c.secure = tls.Server(conn, s.o.TLS), true
	}
	c.text = textproto.NewConn(c.conn)
	if !c.answer("connect", "220 mail.test ready") {
		return
	}
	for {
		line, err := c.text.ReadLine()
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(line, " ")
		if !c.obey(strings.ToUpper(verb), rest) {
			return
		}
	}
}

// answer says what was set for a command, or own; false ends the connection, as 421
// does (RFC 5321 section 3.8).
func (c *talk) answer(command, own string) bool {
	if told, ok := c.told(command); ok {
		own = told
	}
	return c.text.PrintfLine("%s", own) == nil && !strings.HasPrefix(own, "421")
}

// good says whether the answer that was set for a command, if one was, lets it happen.
func (c *talk) good(command string) (told, ok bool) {
	answer, told := c.told(command)
	if !told {
		return false, true
	}
	_ = c.text.PrintfLine("%s", answer)
	return true, answer[0] == '2' || answer[0] == '3'
}

func (c *talk) obey(verb, rest string) bool {
	switch verb {
	case "EHLO", "HELO":
		return c.greet()
	case "STARTTLS":
		if !c.answer(verb, "220 go on") {
			return false
		}
		c.conn, c.secure = tls.Server(c.conn, c.o.TLS), true
		c.text = textproto.NewConn(c.conn)
		return true
	case "AUTH":
		return c.login(rest)
	case "MAIL":
		c.from = address(rest)
		if c.o.User != "" && !c.loggedIn {
			return c.answer(verb, "530 log in first")
		}
		return c.answer(verb, "250 sender")
	case "RCPT":
		c.to = address(rest)
		return c.answer(verb, "250 recipient")
	case "DATA":
		return c.take()
	case "QUIT":
		c.answer(verb, "221 bye")
		return false
	}
	return c.answer(verb, "502 what?")
}

func (c *talk) greet() bool {
	lines := []string{"250-mail.test", "250-8BITMIME"}
	if c.o.TLS != nil && !c.secure {
		lines = append(lines, "250-STARTTLS")
	}
	if c.o.User != "" {
		lines = append(lines, "250-AUTH PLAIN")
	}
	return c.answer("EHLO", strings.Join(append(lines, "250 SIZE 1000000"), "\r\n"))
}

func (c *talk) login(rest string) bool {
	_, secret, _ := strings.Cut(rest, " ")
	text, _ := base64.StdEncoding.DecodeString(secret)
	if string(text) != "\x00"+c.o.User+"\x00"+c.o.Password {
		// As some servers do, it repeats what it was sent.
		return c.answer("AUTH", "535 wrong: "+secret)
	}
	c.loggedIn = true
	return c.answer("AUTH", "235 welcome")
}

func (c *talk) take() bool {
	if told, ok := c.good("DATA"); !ok {
		return true
	} else if !told && c.text.PrintfLine("354 go on") != nil {
		return false
	}
	raw, err := io.ReadAll(c.text.DotReader())
	if err != nil {
		return false
	}
	told, ok := c.good(".")
	if ok {
		c.keep(string(raw))
	}
	return told || c.text.PrintfLine("250 taken") == nil
}

func (c *talk) keep(raw string) {
	m := Mail{From: c.from, To: c.to, Raw: raw, Secure: c.secure}
	read, err := mail.ReadMessage(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		m.Text = fmt.Sprintf("%v in %q", err, raw)
	} else {
		m.Header = read.Header
		m.Text = decoded(read)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mails = append(c.mails, m)
}

// address is what is between angle brackets.
func address(s string) string {
	_, s, _ = strings.Cut(s, "<")
	s, _, _ = strings.Cut(s, ">")
	return s
}
