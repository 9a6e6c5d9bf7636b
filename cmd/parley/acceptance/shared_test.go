package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"parley/store/storetest"
)

// Two servers serve most tests: the demonstration as make run starts it, with
// the offline engines only, and one with the tests' own language model. They
// start with the first test that wants them.
var (
	sharedMu sync.Mutex
	running  []*server
	chat     *model

	demonstration = sync.OnceValues(func() (*server, error) { return startShared(nil) })
	laboratory    = sync.OnceValues(func() (*server, error) {
		sharedMu.Lock()
		chat = newModel()
		env := chat.env()
		sharedMu.Unlock()
		return startShared(env)
	})
)

// theirs are engines that serve accounts with keys of their own, of vendors that cannot be reached. No agent names them.
const theirs = `tool_allow: "` + serviceHost + `"
engines:
  - {name: flux, stage: asr, vendor: deepgram, model: flux-general-en, url: "http://127.0.0.1:1", key: account}
  - {name: haiku, stage: llm, vendor: anthropic, url: "http://127.0.0.1:1", key: account}
  - {name: opus, stage: llm, vendor: anthropic, url: "http://127.0.0.1:1", key: account}
  - {name: aura, stage: tts, vendor: deepgram, url: "http://127.0.0.1:1", key: account, voices: {F1: aura-2-thalia-en}}
`

func startShared(env []string) (*server, error) {
	dir, err := os.MkdirTemp(storetest.Scratch(), "parley-shared-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		return nil, err
	}
	settings := filepath.Join(dir, "parley.yaml")
	if err = os.WriteFile(settings, []byte(theirs), 0o600); err != nil {
		return nil, err
	}
	s, err := start(filepath.Join(dir, "data"), append(slices.Clone(env), "PARLEY_CONFIG="+settings), "--demo")
	if err != nil {
		_ = os.RemoveAll(dir) // the first error says more
		return nil, err
	}
	sharedMu.Lock()
	defer sharedMu.Unlock()
	running = append(running, s)
	return s, nil
}

// endShared stops the shared servers and lists what was wrong with them.
func endShared() (faults []string) {
	sharedMu.Lock()
	defer sharedMu.Unlock()
	for _, s := range running {
		_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-s.logEnd:
			_ = s.cmd.Wait()
		case <-time.After(patience):
			faults = append(faults, "a shared server does not end:\n"+s.tail(20))
			s.kill()
		}
		if code := s.cmd.ProcessState.ExitCode(); code != 0 {
			faults = append(faults, fmt.Sprintf("a shared server ended with %d:\n%s", code, s.tail(40)))
		}
		faults = append(faults, s.faults()...)
		_ = os.RemoveAll(filepath.Dir(s.dir)) // it only takes room
	}
	if chat != nil {
		chat.Close()
	}
	return faults
}

func shared(t *testing.T, get func() (*server, error)) *server {
	t.Helper()
	s, err := get()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// customer is an account of a test's own with an agent and a number.
type customer struct{ account, key, agent, number string }

// agentFile is such an agent. It waits for ever, for some tests are slow, and its
// phrases are what callers say in these tests.
const agentFile = `name: Lola
voice: F1
language: en
prompt: You answer the telephone of a restaurant. We are open Monday to Friday from nine in the morning to six in the evening.
first_message: Hello, how can I help you?
settings:
  idle_seconds: 0
  ring_ms: 200
  phrases:
    - what time do you open on Monday
    - stop please wait
    - tell me a story
    - thank you
`

var numbers atomic.Int64

// newNumber is a Spanish number nobody has.
func newNumber() string { return "+3491" + strconv.FormatInt(1000000+numbers.Add(1), 10) }

// newCustomer sets a customer up by administration commands; with a top-up of so
// many dollars unless that is empty.
func newCustomer(t *testing.T, s *server, topup string) customer {
	t.Helper()
	return newCustomerOf(t, s, topup, agentFile)
}

// newCustomerOf is newCustomer for another agent.
func newCustomerOf(t *testing.T, s *server, topup, agentFile string) customer {
	t.Helper()
	var c customer
	var account struct {
		ID  string `json:"account_id"`
		Key string `json:"api_key"`
	}
	s.answer(t, &account, "admin", "account", "create", "--name", t.Name())
	c.account, c.key = account.ID, account.Key
	if topup != "" {
		s.answer(t, &struct{}{}, "admin", "account", "credit", c.account, topup, "--kind", "topup")
	}
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, []byte(agentFile), 0o600); err != nil {
		t.Fatal(err)
	}
	var agent struct{ ID string }
	s.answer(t, &agent, "admin", "agent", "create", "--account", c.account, "--file", file)
	c.agent, c.number = agent.ID, newNumber()
	s.answer(t, &struct{}{}, "admin", "number", "add", "--account", c.account, c.number, "--agent", c.agent)
	return c
}
