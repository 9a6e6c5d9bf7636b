package acceptance

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/media"
)

// Of a rolling restart: its calls, ten for each account, and how long they last.
const (
	rollingAccounts = 6
	rollingCalls    = 10
	rollingFor      = 10 * time.Minute
	rollingEvery    = 40 * time.Second // from one restart to the next
)

// took is how long a call took to move, in nanoseconds, as its node logs it.
var took = regexp.MustCompile(`"a call goes on at another node".*"took":(\d+)`)

// TestSoakRollingRestart: three nodes are restarted one after another, again and again, under sixty calls, and no call is lost.
func TestSoakRollingRestart(t *testing.T) {
	soak(t)
	r := newRig(t, 3)
	r.model.understands("what time do you open on Monday")
	clip := question(t, media.Rate8k)
	var callers []*caller
	var accounts []customer
	for a := range rollingAccounts {
		who := newCustomer(t, r.nodes[0], "100")
		accounts = append(accounts, who)
		for i := range rollingCalls {
			callers = append(callers, r.dial(r.nodes[(a+i)%3], who.number, fmt.Sprintf("+346000%05d", a*rollingCalls+i)))
		}
	}
	began := time.Now()
	var moves []time.Duration
	restarts := 0
	for time.Since(began) < rollingTime(t) {
		c := callers[restarts%len(callers)]
		mark := c.mark()
		c.say(clip)
		c.awaitVoice("the answer", mark, time.Second)
		old := r.nodes[restarts%3]
		r.restart(restarts % 3)
		for _, m := range took.FindAllStringSubmatch(old.text(), -1) {
			ns, _ := strconv.ParseInt(m[1], 10, 64)
			moves = append(moves, time.Duration(ns))
		}
		if text := old.text(); strings.Contains(text, "stays at this node") {
			t.Errorf("calls stay at a node that stops:\n%s", old.tail(40))
		}
		restarts++
		next := began.Add(time.Duration(restarts) * rollingEvery)
		for time.Now().Before(next) {
			time.Sleep(time.Second) // what passes between two restarts is part of the proof
			for _, c := range callers {
				select {
				case <-c.over:
					t.Fatalf("a call has ended after %d restarts: %v", restarts, c.fault)
				default:
				}
			}
		}
	}
	slices.Sort(moves)
	if len(moves) < restarts*rollingCalls {
		t.Fatalf("%d calls have moved in %d restarts", len(moves), restarts)
	}
	t.Logf("%d restarts, %d moves: half took %v, 99 of 100 %v, the longest %v", restarts, len(moves), moves[len(moves)/2], moves[len(moves)*99/100], moves[len(moves)-1])
	for _, c := range callers {
		mark := c.mark()
		eventually(t, "each caller hears the line", func() bool { return c.mark() > mark })
		c.hangUp()
	}
	for _, who := range accounts {
		var list struct {
			Data []struct {
				EndReason *string `json:"end_reason"`
			}
		}
		ended := 0
		eventually(t, "the calls of an account have ended by their callers", func() bool {
			readAs(t, r.nodes[0], who.key, "/v1/calls", &list)
			ended = 0
			for _, c := range list.Data {
				if c.EndReason != nil && *c.EndReason == "user_hangup" {
					ended++
				}
			}
			return ended == rollingCalls && len(list.Data) == rollingCalls
		})
	}
	var books verification
	r.nodes[0].answer(t, &books, "admin", "ledger", "verify")
	if !books.OK || len(books.Violations) > 0 {
		t.Errorf("the ledger: %v", books.Violations)
	}
}

// rollingTime is how long the restarts go on; PARLEY_ROLLING_FOR shortens it to try it out.
func rollingTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("PARLEY_ROLLING_FOR")
	if text == "" {
		return rollingFor
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
