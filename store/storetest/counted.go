package storetest

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Counter counts the statements that pass on their way to a database. Its methods may be called from several goroutines.
type Counter struct {
	mu   sync.Mutex
	seen map[string]int
}

// Counted returns an address at which the database at address answers, too, and what counts the statements that go there.
func Counted(t testing.TB, address string) (string, *Counter) {
	t.Helper()
	_, cfg := parsed(t, address)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &Counter{seen: map[string]int{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { c.pass(client, cfg.Host, cfg.Port) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	u := &url.URL{Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password), Host: l.Addr().String(), Path: "/" + cfg.Database}
	u.RawQuery = "sslmode=disable"
	return u.String(), c
}

// pass carries a connection until either end closes it.
func (c *Counter) pass(client net.Conn, host string, port uint16) {
	defer client.Close()
	network, address := pgconn.NetworkAddress(host, port)
	server, err := net.Dial(network, address)
	if err != nil {
		return
	}
	var back sync.WaitGroup
	defer back.Wait()
	defer server.Close()
	back.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	in, prepared, bound := bufio.NewReader(client), map[string]string{}, ""
	for kind := byte(0); ; { // what begins a connection has no kind
		head := make([]byte, 4)
		if _, err := io.ReadFull(in, head); err != nil {
			return
		}
		size := binary.BigEndian.Uint32(head)
		if size < 4 || size > 1<<26 {
			return
		}
		body := make([]byte, size-4)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		switch parts := strings.SplitN(string(body), "\x00", 3); {
		case kind == 'Q':
			c.count(parts[0])
		case kind == 'P' && len(parts) > 1: // its name, then its text
			prepared[parts[0]] = parts[1]
		case kind == 'B' && len(parts) > 1: // the portal, then the statement's name
			bound = prepared[parts[1]]
		case kind == 'E':
			c.count(bound)
		}
		message := append(head, body...)
		if kind != 0 {
			message = append([]byte{kind}, message...)
		}
		if _, err := server.Write(message); err != nil {
			return
		}
		if kind, err = in.ReadByte(); err != nil {
			return
		}
	}
}

// count counts a statement, unless it begins or ends a transaction, or is empty: that is a ping.
func (c *Counter) count(sql string) {
	sql = strings.Join(strings.Fields(sql), " ")
	for _, control := range []string{"begin", "commit", "rollback", "-- ping"} {
		if len(sql) >= len(control) && strings.EqualFold(sql[:len(control)], control) {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[sql]++
}

// Take returns how often each statement has been counted since the last time.
func (c *Counter) Take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.seen = map[string]int{} }()
	return c.seen
}

// Report lists counted statements, those that were counted most often first.
func Report(seen map[string]int) string {
	var b strings.Builder
	for _, sql := range slices.SortedFunc(maps.Keys(seen), func(x, y string) int { return seen[y] - seen[x] }) {
		fmt.Fprintf(&b, "%5d  %.160s\n", seen[sql], sql)
	}
	return b.String()
}
