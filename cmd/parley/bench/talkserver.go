package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/api/client"
)

// talkAgent answers the question of Talk.
const talkAgent = `name: Lola
prompt: You answer the telephone of a restaurant. We are open Monday to Friday from nine in the morning to six in the evening.
first_message: Hello, how can I help you?
settings:
  ring_ms: 0
  phrases:
    - what time do you open on Monday
`

// talkNumber is what callers dial.
const talkNumber = "+34910000001"

// talkStart is how long a server may take until it is ready: it creates a database.
const talkStart = time.Minute

// talkServer is a server process with a data directory of its own and one customer.
type talkServer struct {
	program, dir string
	env          []string
	cmd          *exec.Cmd
	logged       chan struct{} // its log has ended
	http, sip    string
	uri          string
	client       *client.Client
}

// startTalkServer starts a server and waits until it is ready; close ends it.
func startTalkServer(ctx context.Context, program string) (_ *talkServer, err error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, err
	}
	s := &talkServer{program: program, dir: dir, logged: make(chan struct{})}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := os.Chmod(dir, 0o755); err != nil { // the database's service account reaches it
		return nil, err
	}
	others := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "PARLEY_") })
	s.env = append(others, "PARLEY_HTTP_ADDR=127.0.0.1:0", "PARLEY_METRICS_ADDR=127.0.0.1:0", "PARLEY_SIP_ADDR=127.0.0.1:0",
		"PARLEY_WEBRTC_UDP_PORT=0", "PARLEY_LOG_FORMAT=json", "PARLEY_DATA_DIR="+filepath.Join(dir, "data"))
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s, s.customer(ctx)
}

func (s *talkServer) start(ctx context.Context) error {
	s.cmd = exec.Command(s.program, "serve")
	s.cmd.Env = s.env
	log, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		s.cmd = nil
		return err
	}
	ready := make(chan struct{})
	go s.read(log, ready)
	select {
	case <-ready:
		return nil
	case <-s.logged:
		return errors.New("the server ended")
	case <-time.After(talkStart):
		return errors.New("the server is not ready")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// read learns the addresses from the log, and that the server is ready.
func (s *talkServer) read(log io.Reader, ready chan<- struct{}) {
	defer close(s.logged)
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ Msg, For, Addr string }
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		switch {
		case line.Msg == "listening" && line.For == "http":
			s.http = line.Addr
		case line.Msg == "listening" && line.For == "sip":
			s.sip = line.Addr
		case line.Msg == "parley is ready":
			close(ready)
		}
	}
}

// customer makes the account, the agent and the number that callers reach.
func (s *talkServer) customer(ctx context.Context) error {
	var account struct {
		ID  string `json:"account_id"`
		Key string `json:"api_key"`
	}
	var agent struct{ ID string }
	file := filepath.Join(s.dir, "agent.yaml")
	if err := os.WriteFile(file, []byte(talkAgent), 0o600); err != nil {
		return err
	}
	var err error
	admin := func(out any, args ...string) {
		if err == nil {
			err = s.admin(ctx, out, args...)
		}
	}
	admin(&account, "account", "create", "--name", "bench")
	admin(nil, "account", "credit", account.ID, "100", "--kind", "topup")
	admin(nil, "account", "set", account.ID, "--concurrency", "1000")
	admin(&agent, "agent", "create", "--account", account.ID, "--file", file)
	admin(nil, "number", "add", "--account", account.ID, talkNumber, "--agent", agent.ID)
	if err != nil {
		return err
	}
	s.uri = "sip:" + talkNumber + "@" + s.sip
	s.client, err = client.New("http://"+s.http, account.Key)
	return err
}

// admin runs an administration command and reads its answer into out; nil: not at all.
func (s *talkServer) admin(ctx context.Context, out any, args ...string) error {
	cmd := exec.CommandContext(ctx, s.program, append(args, "--json")...)
	cmd.Env = s.env
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("parley %s: %w: %s", strings.Join(args[:2], " "), err, bytes.TrimSpace(errOut.Bytes()))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// close ends the server and removes what it wrote.
func (s *talkServer) close() {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(os.Interrupt)
		<-s.logged
		_ = s.cmd.Wait()
	}
	_ = os.RemoveAll(s.dir)
}
