package acceptance

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/api/wire"
	"parley/media"
)

// measurement skips what make bench runs unless it does.
func measurement(t *testing.T) {
	t.Helper()
	if os.Getenv("PARLEY_TEST_MEASURE") == "" {
		t.Skip("PARLEY_TEST_MEASURE is not set")
	}
}

// report prints values as Go benchmarks do, for parley bench report.
func report(name string, n int, values ...any) {
	fmt.Printf("\npkg: parley/cmd/parley/acceptance\nBenchmark%s %d", name, n)
	for i := 0; i+1 < len(values); i += 2 {
		fmt.Printf(" %.2f %s", values[i+1], values[i])
	}
	fmt.Println()
}

const (
	measuredReply = "We open at nine."
	measuredSaid  = "what time do you open on Monday"
)

// vendorAgent takes an agent to the engines of vendorsFile.
const vendorAgent = "settings:\n  engines: {asr: [flux], llm: [haiku], tts: [sonic]}\n  turns: engine\n  speculative_llm: true\n  speculative_voice: true\n  idle_seconds: 0\n"

// toVendors gives a customer's agent those engines.
func toVendors(t *testing.T, s *server, who customer) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, []byte(vendorAgent), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := do(t, command(s.dir, s.env, "admin", "agent", "update", "--account", who.account, who.agent, "--file", file)); o.status != 0 {
		t.Fatalf("exit status %d, %s", o.status, o.errOut)
	}
}

// asked is the question in whole frames, from its first sound to its last, which is as long as the fake takes it to be.
func asked(t *testing.T) []int16 {
	t.Helper()
	clip, frame := question(t, media.Rate8k), media.Rate8k.FrameSamples()
	clip = clip[:len(clip)/frame*frame]
	for len(clip) > frame && voiced(clip[:frame], media.Rate8k) == 0 {
		clip = clip[frame:]
	}
	for len(clip) > frame && voiced(clip[len(clip)-frame:], media.Rate8k) == 0 {
		clip = clip[:len(clip)-frame]
	}
	return clip
}

// TestMeasureTurns: how long callers on the telephone wait for the first sound of an answer, with engines that are as slow
// as those of vendors, and where that time goes.
func TestMeasureTurns(t *testing.T) {
	measurement(t)
	const calls, turns = 10, 20
	clip := asked(t)
	_, env := startFakes(t, fakesOrder{Said: measuredSaid, Length: media.Rate8k.Duration(len(clip)).Duration(), Utterances: turns, Reply: measuredReply})
	s := serveLean(t, newDataDir(t), env)
	who := newCustomer(t, s, "100")
	toVendors(t, s, who)
	phone := newPhone(t)
	var mu sync.Mutex
	var waits []float64
	var all sync.WaitGroup
	for range calls {
		c := call(t, s, phone, who.number)
		all.Go(func() {
			c.awaitVoice("the greeting", 0, 500*time.Millisecond)
			for range turns {
				c.say(clip)
				waited := c.awaitAnswer()
				mu.Lock()
				waits = append(waits, waited)
				mu.Unlock()
				c.awaitVoice("the end of the answer", c.mark(), 0)
			}
			c.hangUp()
		})
	}
	all.Wait()
	var endpoint, model, voice, own, total []float64
	for _, x := range openBooks(t, s).closed(who.account, calls) {
		var past wire.CallDetail
		readAs(t, s, who.key, "/v1/calls/"+x.ID, &past)
		for _, turn := range past.Turns {
			endpoint, model, voice = append(endpoint, float64(turn.EndpointMS)), append(model, float64(turn.ModelMS)), append(voice, float64(turn.VoiceMS))
			total, own = append(total, float64(turn.TotalMS)), append(own, float64(turn.TotalMS-turn.EndpointMS-turn.ModelMS-turn.VoiceMS))
		}
	}
	if len(waits) != calls*turns || len(total) != calls*turns {
		t.Fatalf("the callers heard %d answers, the server gave %d", len(waits), len(total))
	}
	report("Vendors/turns", len(waits), "wait-p50-ms", quantile(waits, .5), "wait-p95-ms", quantile(waits, .95), "endpoint-p50-ms", quantile(endpoint, .5),
		"model-p50-ms", quantile(model, .5), "voice-p50-ms", quantile(voice, .5), "own-p50-ms", quantile(own, .5), "own-p95-ms", quantile(own, .95),
		"line-p50-ms", quantile(waits, .5)-quantile(total, .5))
}

// quantile sorts a list, which is not empty, and returns the value that the share q stays at or below.
func quantile(list []float64, q float64) float64 {
	slices.Sort(list)
	return list[min(len(list)-1, int(q*float64(len(list))))]
}

// TestMeasureCalls: what many telephone calls cost that talk through the same engines.
func TestMeasureCalls(t *testing.T) {
	measurement(t)
	const calls, lasts = 100, 20 * time.Second
	clip := asked(t)
	fakes, env := startFakes(t, fakesOrder{Said: measuredSaid, Length: media.Rate8k.Duration(len(clip)).Duration(), Utterances: 50, Reply: measuredReply})
	s := serveLean(t, newDataDir(t), env)
	who := newCustomer(t, s, "100")
	toVendors(t, s, who)
	admin(t, s.dir, &struct{}{}, "account", "set", who.account, "--concurrency", strconv.Itoa(2*calls))
	warm := call(t, s, newPhone(t), who.number) // what every server has after its first call
	warm.awaitVoice("the greeting", 0, 500*time.Millisecond)
	warm.hangUp()
	openBooks(t, s).closed(who.account, 1)
	idle := s.memory(t)
	load := startLoad(t, map[string]any{"calls": calls, "uri": "sip:" + who.number + "@" + s.addrs["sip"], "speech": clip, "cycle": 5 * time.Second, "every": 40 * time.Millisecond})
	server, others := processorTime(t, s.cmd.Process.Pid), processorTime(t, fakes.Pid)
	began := time.Now()
	time.Sleep(lasts) // the calls go on in real time
	took := time.Since(began)
	server, others = processorTime(t, s.cmd.Process.Pid)-server, processorTime(t, fakes.Pid)-others
	used := s.memory(t) - idle
	result := load.stop()
	if result.Refused > 0 || result.Dropped > 0 || result.Audible == 0 {
		t.Errorf("%d calls were refused, %d dropped; %d frames of speech were heard", result.Refused, result.Dropped, result.Audible)
	}
	openBooks(t, s).closed(who.account, calls+1)
	percent := func(d time.Duration) float64 { return 100 * float64(d) / float64(took) }
	report("Vendors/calls", calls, "KiB/call", float64(used)/1024/calls, "late-p99.9-ms", 1000*s.within(t, "parley_rtp_packet_lateness_seconds", .999),
		"late-worst-ms", 1000*s.within(t, "parley_rtp_lateness_seconds", 1), "server-%", percent(server), "fakes-%", percent(others),
		"caller-late-%", 100*float64(result.Late)/float64(max(1, result.Sent)))
}

// within is the end of the first bucket of a histogram that the share of what was counted stays in, and infinity in the last.
func (s *server) within(t *testing.T, histogram string, share float64) float64 {
	t.Helper()
	all := s.metric(t, histogram+"_count")
	if all == 0 {
		t.Fatalf("%s has counted nothing", histogram)
	}
	_, text := s.get(t, "metrics", "/metrics")
	for _, m := range regexp.MustCompile(`(?m)^`+histogram+`_bucket{le="(.*)"} (\S+)$`).FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseFloat(m[2], 64)
		end, err2 := strconv.ParseFloat(m[1], 64)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if n >= share*all {
			return end
		}
	}
	t.Fatalf("%s has no buckets", histogram)
	return 0
}

// loadResult is what the generator of load says at its end.
type loadResult struct{ Refused, Dropped, Audible, Late, Sent int }

// load is a running generator.
type load struct {
	t    *testing.T
	in   io.Closer
	said *bufio.Reader
	cmd  *exec.Cmd
}

// startLoad starts parley bench load and waits until its calls are up.
func startLoad(t *testing.T, order map[string]any) *load {
	t.Helper()
	cmd := exec.Command(parley, "bench", "load")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		err = json.NewEncoder(in).Encode(order)
	}
	if err != nil {
		t.Fatal(err)
	}
	l := &load{t, in, bufio.NewReader(out), cmd}
	if line, err := l.said.ReadString('\n'); err != nil || strings.TrimSpace(line) != "up" {
		t.Fatalf("the calls are not up: %q %v", line, err)
	}
	return l
}

// stop hangs up.
func (l *load) stop() (r loadResult) {
	l.t.Helper()
	_ = l.in.Close()
	if err := json.NewDecoder(l.said).Decode(&r); err != nil {
		l.t.Fatal(err)
	}
	if err := l.cmd.Wait(); err != nil {
		l.t.Fatal(err)
	}
	return r
}

// processorTime is what a process has used.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after) // from the third one of proc(5) on
	user, err := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	const tick = 10 * time.Millisecond // USER_HZ
	return time.Duration(user+system) * tick
}
