package node

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/inference"
	"parley/media"
	"parley/sip/simulated"
)

// farEndClip is set in the process that plays far ends: the file with what callers say.
const farEndClip = "PARLEY_TEST_FAR_END"

// farEnd is a process of its own with the telephone network, so that a fault that a test
// injects in this one is the node's: callers, who do as they are told, and callees.
type farEnd struct {
	*testing.T
	carrier netip.AddrPort
	in      *os.File

	mu   sync.Mutex
	said map[string]int // lines that it has said
}

func newFarEnd(t *testing.T, text string) *farEnd {
	t.Helper()
	f := &farEnd{T: t, said: map[string]int{}}
	clip, err := flite{t.TempDir()}.say(t.Context(), inference.Speech{Text: text, VoiceConfig: inference.VoiceConfig{Voice: "M2"}})
	f.ok(err)
	file, err := os.CreateTemp(t.TempDir(), "")
	f.ok(err)
	said := make([]int16, media.Rate8k) // a second: the agent greets first
	for i := 0; i < len(clip.Samples); i += int(clip.Rate / media.Rate8k) {
		said = append(said, clip.Samples[i])
	}
	f.ok(binary.Write(file, binary.LittleEndian, said))
	f.ok(file.Close())
	read, write, err := os.Pipe()
	f.ok(err)
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stdin, cmd.Stderr = append(os.Environ(), farEndClip+"="+file.Name()), read, os.Stderr
	out, err := cmd.StdoutPipe()
	f.ok(err)
	f.ok(cmd.Start())
	f.ok(read.Close())
	f.in = write
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the far end does not begin")
	}
	f.carrier, err = netip.ParseAddrPort(lines.Text())
	f.ok(err)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for lines.Scan() {
			f.mu.Lock()
			f.said[lines.Text()]++
			f.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = write.Close()
		<-over
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *farEnd) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// do has it do something: "call NAME URI speak", or silent; "hangup NAME"; "answer any",
// once for each call that it has said to be placed ("rung NUMBER").
func (f *farEnd) do(format string, args ...any) {
	f.Helper()
	_, err := fmt.Fprintf(f.in, format+"\n", args...)
	f.ok(err)
}

// count is how often it has said a line.
func (f *farEnd) count(line string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.said[line]
}

// playFarEnd is the other process. It ends with its standard input.
func playFarEnd(clip string) {
	b, err := os.ReadFile(clip)
	if err != nil {
		panic(err)
	}
	speech := make([]int16, len(b)/2)
	for i := range speech {
		speech[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	carrier, err := simulated.NewCarrier(simulated.CarrierConfig{Listen: netip.MustParseAddrPort("127.0.0.1:0")})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	answer := make(chan struct{}, 100)
	carrier.Record(func(h simulated.Heard) { fmt.Println("left", h.Called) })
	carrier.Count(func(called string) {
		fmt.Println("rung", called)
		select {
		case <-answer:
		case <-ctx.Done():
		}
	})
	var parts, calls sync.WaitGroup
	parts.Go(func() { _ = carrier.Run(ctx) })
	fmt.Println(carrier.Addr())
	hangups := map[string]context.CancelFunc{}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		word := strings.Fields(in.Text())
		switch name := word[1]; word[0] {
		case "call":
			cfg := simulated.PhoneConfig{URI: word[2], Number: "+34600123456", Wait: time.Hour}
			if word[3] == "speak" {
				cfg.Play = speech
			}
			var talk context.Context
			talk, hangups[name] = context.WithCancel(ctx)
			calls.Go(func() {
				_, _ = simulated.Call(talk, cfg)
				fmt.Println("over", name)
			})
		case "answer":
			answer <- struct{}{}
		case "hangup":
			hangups[name]()
		}
	}
	for _, hangup := range hangups {
		hangup()
	}
	calls.Wait()
	stop()
	parts.Wait()
}
