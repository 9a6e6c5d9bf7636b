package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/cmd/parley/money"
)

// pricing is the version that a node publishes.
func (s *site) pricing(i int) string {
	s.Helper()
	res, err := s.servers[i].Client().Get(s.servers[i].URL + "/v1/pricing")
	s.ok(err)
	defer res.Body.Close()
	var b [200]byte
	n, _ := res.Body.Read(b[:])
	_, rest, _ := strings.Cut(string(b[:n]), `"version":"`)
	version, _, _ := strings.Cut(rest, `"`)
	return version
}

// One node is given a new rate card. The other, whose file is the old one, sells by the new
// one, too, also when it reads its file again.
func TestNewRateCardReachesOtherNodes(t *testing.T) {
	s := newSite(t)
	old := billing.DefaultRateCard()
	const version = "2061-01-01.1"
	file := filepath.Join(t.TempDir(), "card.yaml")
	s.ok(os.WriteFile(file, []byte(strings.Replace(string(old.JSON()), old.Version(), version, 1)), 0o600))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- s.nodes[1].cards.Follow(ctx) }()
	go func() { done <- s.nodes[1].jobs.Run(ctx) }() // which looks for what nobody tells of
	s.nodes[0].cards.File = file
	s.ok(s.nodes[0].LoadRateCard(t.Context()))
	if got := s.pricing(0); got != version {
		t.Errorf("the node that was told sells by %s", got)
	}
	for end := time.Now().Add(time.Minute); s.pricing(1) != version; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the other sells by %s", s.pricing(1))
		}
	}
	s.ok(s.nodes[1].LoadRateCard(t.Context()))
	if a, b := s.pricing(0), s.pricing(1); a != version || b != version {
		t.Errorf("after the old file was read again: %s and %s", a, b)
	}
	if !strings.Contains(s.log.String(), "newer rate card") {
		t.Error("nobody was told that a file is not used")
	}
	stop()
	s.ok(<-done)
	s.ok(<-done)
}

// TestMessagesNeedPrices: a server whose carrier charges it for text messages does not start with a card that gives them away.
func TestMessagesNeedPrices(t *testing.T) {
	s := newSite(t)
	cards := s.nodes[0].cards
	cards.Messages = true
	if err := cards.Load(t.Context()); !errors.Is(err, money.ErrNoMessages) {
		t.Errorf("without prices: %v", err)
	}
	old := billing.DefaultRateCard()
	text := strings.Replace(string(old.JSON()), old.Version(), "2061-01-01.1", 1)
	cards.File = filepath.Join(t.TempDir(), "card.yaml")
	s.ok(os.WriteFile(cards.File, []byte(strings.Replace(text, `"phone":{`, `"phone":{"message_inbound":{"US":0.006},"message_outbound":{"US":0.012},`, 1)), 0o600))
	s.ok(cards.Load(t.Context()))
}
