package bus_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"parley/store"
	"parley/store/bus"
	"parley/store/bus/bustest"
)

// TestSubjects: an identifier is one part of a subject, whatever somebody sends.
func TestSubjects(t *testing.T) {
	for id, ok := range map[string]bool{
		"acc_01J": true, "x-1": true, "": false, "a.b": false, "*": false, ">": false, "a>": false, "a b": false,
		"a\tb": false, "a\r\nPUB x 0": false, "é": false, strings.Repeat("x", 257): false,
	} {
		_, call := bus.Call(id)
		_, goodbye := bus.Goodbye(id)
		for _, err := range []error{call, goodbye} {
			if errors.Is(err, bus.ErrSubject) == ok || (err == nil) != ok {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
	a, err1 := bus.Commands(store.Node{ID: "a.b", Epoch: 1})
	b, err2 := bus.Commands(store.Node{ID: "a", Epoch: 1})
	if err1 != nil || err2 != nil || a == b {
		t.Errorf("%v %v, %v %v", a, err1, b, err2)
	}
	if _, err := bus.Commands(store.Node{ID: "a*", Epoch: 1}); !errors.Is(err, bus.ErrSubject) {
		t.Error(err)
	}
	if bus.Heartbeats() == bus.Goodbyes() {
		t.Error("one subject for two things")
	}
}

// TestWrongConfiguration is refused, and no password is shown.
func TestWrongConfiguration(t *testing.T) {
	a := bustest.NewAuthority(t)
	good := bus.Cluster{Listen: "127.0.0.1:0", CA: a.CA}
	good.Cert, good.Key = a.Node()
	with := func(change func(*bus.Cluster)) bus.Cluster {
		c := good
		change(&c)
		return c
	}
	for name, cfg := range map[string]bus.Config{
		"port":           {URL: "nats://u:" + secret + "@h:port"},
		"scheme":         {URL: "http://u:" + secret + "@h"},
		"host":           {URL: "nats://u:" + secret + "@:4222"},
		"path":           {URL: "nats://u:" + secret + "@h/x"},
		"gap":            {URL: "nats://h,,nats://u:" + secret + "@h"},
		"both":           {URL: "nats://h", Cluster: good},
		"no certificate": {Cluster: bus.Cluster{Listen: "127.0.0.1:0"}},
		"no key":         {Cluster: with(func(c *bus.Cluster) { c.Key = "" })},
		"another key":    {Cluster: with(func(c *bus.Cluster) { _, c.Key = a.Node() })},
		"no authority":   {Cluster: with(func(c *bus.Cluster) { c.CA = c.CA + ".gone" })},
		"a key as one":   {Cluster: with(func(c *bus.Cluster) { c.CA = c.Key })},
		"only routes":    {Cluster: with(func(c *bus.Cluster) { c.Listen, c.Routes = "", []string{"127.0.0.1:1"} })},
		"anywhere":       {Cluster: with(func(c *bus.Cluster) { c.Listen = ":0" })},
		"route":          {Cluster: with(func(c *bus.Cluster) { c.Routes = []string{"127.0.0.1"} })},
		"route nowhere":  {Cluster: with(func(c *bus.Cluster) { c.Routes = []string{"127.0.0.1:0"} })},
	} {
		cfg.Log = slog.New(slog.DiscardHandler)
		b, err := bus.Open(t.Context(), cfg)
		if !errors.Is(err, bus.ErrConfig) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
		if b != nil {
			b.Close()
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	for range b.N {
		x, err := bus.Open(b.Context(), bus.Config{Name: "n", Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		x.Close()
		b.StartTimer()
	}
}
