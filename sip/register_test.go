package sip_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
	"parley/sip"
	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/trunk"
)

// registrar runs a registrar and proxy of other hands; it passes calls on to
// callee. It returns where that listens.
func registrar(t *testing.T, algorithm string, callee netip.AddrPort, defines ...string) netip.AddrPort {
	t.Helper()
	return kamailio(t, "../testdata/interop/kamailio/registrar.cfg", t.TempDir(), append(defines, fmt.Sprintf("CALLEE=%q", "sip:"+callee.String()), fmt.Sprintf("ALGORITHM=%q", algorithm))...)
}

// kamailio runs one in a directory of its own.
func kamailio(t *testing.T, file, dir string, defines ...string) netip.AddrPort {
	t.Helper()
	at := freePort(t)
	kamailioAt(t, at, file, dir, defines...)
	return at
}

// kamailioProgram is where it is; users have no directory of it in their path.
func kamailioProgram(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"kamailio", "/usr/sbin/kamailio"} {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	t.Skip("kamailio is not installed")
	panic("unreachable")
}

// kamailioAt runs one at an address, until the test ends or its power is cut.
func kamailioAt(t *testing.T, at netip.AddrPort, file, dir string, defines ...string) (cut func()) {
	t.Helper()
	config, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-f", config, "-w", dir, "-Y", dir, "-P", filepath.Join(dir, "pid"), "-DD", "-E", "-m", "32", "-M", "4", "-A", "LISTEN=" + at.String()}
	for _, d := range defines {
		args = append(args, "-A", d)
	}
	cmd := exec.Command(kamailioProgram(t), args...)
	cut = runs(t, cmd)
	listens(t, "kamailio", at)
	return cut
}

// runs begins a program that ends with the test, children and all, or at once when its power is cut.
func runs(t *testing.T, cmd *exec.Cmd) (cut func()) {
	t.Helper()
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() { _ = cmd.Wait() }) // its end says the rest
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // Kamailio ends its children
		end()
		if t.Failed() {
			t.Logf("%s:\n%s", cmd.Path, log.Bytes())
		}
	})
	return func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		end()
	}
}

// listens waits until a program takes connections.
func listens(t *testing.T, who string, at netip.AddrPort) {
	t.Helper()
	eventually(t, who+" listens", func() bool {
		conn, err := net.Dial("tcp", at.String())
		if err != nil {
			return false
		}
		conn.Close()
		return true
	})
}

// freePort is one of UDP and TCP that nobody takes until the test ends.
func freePort(t *testing.T) netip.AddrPort {
	t.Helper()
	return netip.AddrPortFrom(loopback, uint16(mediatest.FreePorts(t)))
}

// start runs a user agent until stop, which the test must call.
func start(t *testing.T, cfg sip.Config) (ua *sip.UserAgent, stop func()) {
	t.Helper()
	if !cfg.Listen.IsValid() {
		cfg.Listen, cfg.Ports = netip.AddrPortFrom(loopback, 0), ports(t)
	}
	ua, err := sip.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ua.Run(ctx) }()
	return ua, func() {
		t.Helper()
		cancel()
		if err := wait(t, done, "end of Run"); err != nil {
			t.Error(err)
		}
	}
}

func registered(ua *sip.UserAgent) bool { return ua.Trunks()[0].Registration.Registered }

// account is a trunk that registers.
func account(at netip.AddrPort, transport string) trunk.Config {
	return trunk.Config{Name: "carrier", Targets: []trunk.Target{{Host: at.Addr().String(), Port: at.Port(), Transport: transport}},
		Auth: dialog.Credentials{Username: "account", Password: "secret"}, FromUser: "account", FromHost: "carrier.test",
		Flags: trunk.Register, Numbers: []string{"+15550100001"}}
}

func TestRegistration(t *testing.T) {
	for _, tt := range []struct{ algorithm, transport string }{{"MD5", "udp"}, {"SHA-256", "udp"}, {"SHA-256", "tcp"}} {
		t.Run(tt.algorithm+" "+tt.transport, func(t *testing.T) {
			t.Parallel()
			results, theirs := make(chan outcome, 1), make(chan outcome, 1)
			callee := serve(t, sip.Config{OnCall: answering(theirs), Allow: func(a netip.Addr) bool { return a.IsLoopback() }})
			proxy := registrar(t, tt.algorithm, callee.Addr())
			ua, stop := start(t, sip.Config{OnCall: answering(results), Trunks: []trunk.Config{account(proxy, tt.transport)}})
			eventually(t, "registered", func() bool { return registered(ua) })

			// A call to the account comes to our Contact, and is one to its number.
			caller := serve(t, sip.Config{})
			uri := sip.Target{URI: "sip:account@" + proxy.String()}
			leg, err := caller.Dial(t.Context(), uri)
			if err != nil {
				t.Fatal(err)
			}
			ended := hangup(leg)
			if o := wait(t, results, "end of the call"); o.err != nil || o.in.Called != "+15550100001" || o.in.Trunk != "carrier" ||
				!strings.EqualFold(o.in.Transport, tt.transport) {
				t.Errorf("%v %+v", o.err, o.in)
			}
			wait(t, ended, "goodbye")

			// A call of ours is challenged, and so is its BYE.
			if leg, err = ua.Dial(t.Context(), sip.Target{Number: number, From: header.Identity{Number: "+15550100001"}}); err != nil {
				t.Fatal(err)
			}
			ended = hangup(leg)
			if o := wait(t, theirs, "end of the call"); o.err != nil || o.in.Called != number || o.in.From.Number != "account" {
				t.Errorf("%v %+v", o.err, o.in)
			}
			wait(t, ended, "goodbye")

			// After we have left, nobody is registered there.
			stop()
			var e *sip.NotAnswered
			if _, err = caller.Dial(t.Context(), uri); !errors.As(err, &e) || e.Code != 407 {
				t.Errorf("a call afterwards: %v", err)
			}
		})
	}
}

// hangup ends an answered call.
func hangup(leg *sip.Leg) <-chan error {
	ctx, stop := context.WithCancelCause(context.Background())
	stop(&media.Ended{Reason: media.AgentHangup})
	done := make(chan error, 1)
	go func() { done <- conduct(ctx, leg, nil) }()
	return done
}

// The registrar wants longer registrations than we ask for.
func TestRegistrationTooBrief(t *testing.T) {
	proxy := registrar(t, "MD5", netip.AddrPortFrom(loopback, 9), "SHORT")
	ua := serve(t, sip.Config{Trunks: []trunk.Config{account(proxy, "udp")}})
	eventually(t, "registered", func() bool { return registered(ua) })
	if r := ua.Trunks()[0].Registration; time.Until(r.Until) < 19*time.Minute || r.Attempts != 1 {
		t.Errorf("%+v", r)
	}
}

func TestRegistrationRefused(t *testing.T) {
	proxy := registrar(t, "SHA-256", netip.AddrPortFrom(loopback, 9))
	carrier := account(proxy, "udp")
	carrier.Auth.Password = "guess"
	ua := serve(t, sip.Config{Trunks: []trunk.Config{carrier}})
	eventually(t, "refused", func() bool { return ua.Trunks()[0].Registration.Error != "" })
	r := ua.Trunks()[0].Registration
	if r.Registered || r.Attempts != 1 || strings.Contains(r.Error, "guess") {
		t.Errorf("%+v", r)
	}
}

// Registrations are refreshed at half their time, and tried again after a
// failure; a registrar of our own says when.
func TestRegistrationIsRefreshed(t *testing.T) {
	t.Parallel()
	c := newCallee(t)
	carrier := trunk.Config{Name: "carrier", Targets: []trunk.Target{c.target()}, Auth: dialog.Credentials{Username: "account", Password: "x"}, Flags: trunk.Register | trunk.NoProbe}
	ua, stop := start(t, sip.Config{Trunks: []trunk.Config{carrier}})
	first := c.expect("REGISTER")
	c.answer("REGISTER", 503, "x", "") // and again, in about two seconds
	second := c.expect("REGISTER")
	if first.CallID().Value() != second.CallID().Value() || second.CSeq().SeqNo <= first.CSeq().SeqNo {
		t.Errorf("the second REGISTER is a stranger:\n%s", second)
	}
	contact := second.Contact().Value()
	c.answer("REGISTER", 200, "x", "", "Contact: <sip:somebody@192.0.2.1>;expires=3000", "Contact: "+strings.ReplaceAll(contact, "expires=600", "expires=10"))
	third := c.expect("REGISTER") // after half of ten seconds
	if !registered(ua) {
		t.Error("it was not registered meanwhile")
	}
	if left := time.Until(ua.Trunks()[0].Registration.Until); left > 6*time.Second {
		t.Errorf("refreshed %v before the end", left)
	}
	if third.CSeq().SeqNo <= second.CSeq().SeqNo {
		t.Errorf("CSeq %d", third.CSeq().SeqNo)
	}
	c.answer("REGISTER", 200, "x", "", "Contact: "+contact)
	eventually(t, "refreshed", func() bool { return time.Until(ua.Trunks()[0].Registration.Until) > time.Minute })
	left := make(chan struct{})
	go func() {
		defer close(left)
		if last := c.expect("REGISTER"); last.GetHeader("Expires").Value() != "0" {
			t.Errorf("the last one is\n%s", last)
		}
		c.answer("REGISTER", 200, "x", "")
	}()
	stop()
	<-left
}
