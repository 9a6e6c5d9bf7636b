package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/store/storetest"
)

// TestPost: a node does what another asks, or says why not. Who is no node, and what is not as a node has sealed it, finds nothing.
func TestPost(t *testing.T) {
	url := storetest.URL(t)
	const key = "the key of the cluster"
	one, _ := newServer(t, url, "one", key)
	two, at := newServer(t, url, "two", key)
	stranger, _ := newServer(t, url, "stranger", "another key")
	asked := 0
	two.Answers("sums/add", func(_ context.Context, body []byte) (any, error) {
		asked++
		var list []int
		if err := json.Unmarshal(body, &list); err != nil || len(list) != 2 {
			return nil, errors.New("two numbers are wanted")
		}
		return list[0] + list[1], nil
	})
	peers, err := one.cfg.Store.Peers(t.Context(), one.cfg.Life)
	if err != nil || len(peers) != 2 || peers[1].Node != two.cfg.Life {
		t.Fatalf("its peers are %+v, %v", peers, err)
	}
	to, sum := peers[1], 0
	if err := one.Post(t.Context(), to, "sums/add", []int{3, 4}, &sum); err != nil || sum != 7 {
		t.Errorf("the sum is %d, %v", sum, err)
	}
	if refusal, ok := errors.AsType[*Refusal](one.Post(t.Context(), to, "sums/add", []int{3}, nil)); !ok || refusal.Reason != "two numbers are wanted" {
		t.Errorf("what cannot be done: %v", refusal)
	}
	before := asked
	if err := one.Post(t.Context(), to, "sums/multiply", []int{3, 4}, nil); err == nil {
		t.Error("what nobody answers is answered")
	}
	if err := stranger.Post(t.Context(), to, "sums/add", []int{3, 4}, nil); err == nil {
		t.Error("a stranger is answered")
	}
	former := to
	former.Epoch--
	if err := one.Post(t.Context(), former, "sums/add", []int{3, 4}, nil); err == nil {
		t.Error("what was for an earlier life of the node is answered")
	}

	// Sealed for another body, and for what somebody else asks, whose body is not sealed.
	body := sha256.Sum256([]byte("[3,4]"))
	word := vouched{Node: to.ID, Epoch: to.Epoch, Method: http.MethodPost, URI: postPath + "sums/add", Until: one.cfg.Store.Now().Add(time.Minute), Sum: body[:]}
	post := func(word, text string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+postPath+"sums/add", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(peerHeader, word)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	sealed := one.word(word)
	word.Sum = nil
	sentOn := one.word(word)
	for name, status := range map[string]int{"another body": post(sealed, "[3,5]"), "what is sent on": post(sentOn, "[3,4]"), "nothing": post("", "[3,4]")} {
		if status != http.StatusNotFound {
			t.Errorf("%s: %d", name, status)
		}
	}
	if asked != before {
		t.Errorf("it was asked %d times", asked-before)
	}
	if status := post(sealed, "[3,4]"); status != http.StatusOK {
		t.Errorf("as it was sealed: %d", status)
	}
}
