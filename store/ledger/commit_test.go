package ledger_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"parley/store/ledger"
	"parley/store/storetest"
)

// tap is a proxy before the database that can lose the answer to a commit.
type tap struct {
	to   string // socket or address of the database
	loss atomic.Bool
}

// tapped returns the address of the database at a URL through a tap.
func tapped(t *testing.T, at string) (*tap, string) {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	port := q.Get("port")
	if port == "" {
		port = "5432"
	}
	x := &tap{to: q.Get("host") + "/.s.PGSQL." + port}
	if u.Port() != "" && q.Get("host") != "" {
		x.to = q.Get("host") + "/.s.PGSQL." + u.Port()
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go x.serve(c)
		}
	}()
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable")
	u.Host, u.RawQuery = ln.Addr().String(), q.Encode()
	return x, u.String()
}

func (x *tap) serve(client net.Conn) {
	defer client.Close()
	db, err := net.Dial("unix", x.to)
	if err != nil {
		return
	}
	defer db.Close()
	var losing atomic.Bool
	go func() {
		defer db.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := client.Read(buf)
			if err != nil {
				return
			}
			if bytes.Contains(buf[:n], []byte("commit\x00")) && x.loss.Load() {
				losing.Store(true)
			}
			if _, err := db.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := db.Read(buf)
		if err != nil || losing.Load() { // it has been done, and nobody hears of it
			return
		}
		if _, err := io.Copy(client, bytes.NewReader(buf[:n])); err != nil {
			return
		}
	}
}

// A start whose commit got no answer has a name, by which it is closed; nobody's place is
// taken then.
func TestAStartWhoseCommitGotNoAnswer(t *testing.T) {
	at := storetest.URL(t)
	if !strings.Contains(at, "host=") {
		t.Skip("the database is not on a socket of ours")
	}
	f := prepare(t, storetest.Open(t, at))
	acc := f.NewAccount(0)
	x, through := tapped(t, at)
	far := storetest.Open(t, through)
	x.loss.Store(true)
	s, err := ledger.New(far).StartSession(storetest.At(t.Context(), t0), f.Request(acc, web))
	if err == nil || s == nil {
		t.Fatalf("the start is %v, %v; want a session and an error", s, err)
	}
	x.loss.Store(false)
	if n := f.Show(acc).Live; n != 1 {
		t.Fatalf("%d sessions are live; want the one that was committed", n)
	}
	_, err = ledger.New(far).CloseSession(storetest.At(t.Context(), t0), s, ledger.Closing{Reason: "failed"})
	f.OK(err)
	if a := f.Show(acc); a.Live != 0 || a.Pots.Held != 0 {
		t.Errorf("%d places are taken, %v held", a.Live, a.Pots.Held)
	}
	// What was refused has no name.
	if s, err := ledger.New(far).StartSession(storetest.At(t.Context(), t0), f.Request(acc, outboundES)); s != nil || err == nil {
		t.Errorf("a start that is refused is %v, %v", s, err)
	}
	f.Verified()
}

// One wallet that somebody has locked leaves the checkpoints of others alone.
func TestALockedWalletHoldsUpNoOther(t *testing.T) {
	at := storetest.URL(t)
	f := prepare(t, storetest.Open(t, at))
	f.Node = f.Register("node-b")
	locked, free := f.Start(f.NewAccount(0), web), f.Start(f.NewAccount(0), web)
	release := f.lock(at, locked.Account)
	used := ledger.Checkpoint{Seq: 1, StartedAt: t0}
	used.Usage[0] = 60_000
	reports := []ledger.Checkpoint{used, used, used}
	unknown := *free
	unknown.ID = "ses_06er5bt0v9k1o7m2q3s4t5u6v0"
	reports[0].Session, reports[1].Session, reports[2].Session = locked, free, &unknown
	rs, err := f.Checkpoints(f.Context(), reports)
	f.OK(err)
	if !errors.Is(rs[0].Err, ledger.ErrLater) || rs[1].Err != nil || rs[2].Err == nil || errors.Is(rs[2].Err, ledger.ErrLater) {
		t.Errorf("results %+v", rs)
	}
	release()
	rs, err = f.Checkpoints(f.Context(), reports[:1])
	f.OK(err)
	if rs[0].Err != nil || rs[0].Pots.AccruedAny == 0 {
		t.Errorf("afterwards %+v", rs[0])
	}
	f.Verified()
}
