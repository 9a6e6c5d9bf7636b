package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"time"

	"parley/cmd/parley/load"
	"parley/media"
	"parley/media/codec"
	"parley/media/denoise"
	"parley/media/vad"
	"parley/pipeline/listen"
)

// Call measures what telephone calls cost, and that none suffers.
type Call struct {
	Leg     string      // how the callers come: sip, which is also the empty one, or webrtc
	Codec   codec.Codec // of telephone calls
	Calls   int
	Length  time.Duration // of the measurement, after all calls are up
	VAD     bool          // the spectral detector instead of a threshold
	Denoise bool          // and the suppressor; implies VAD
	// Generator is the command that runs Load.
	Generator []string
	// Profile is a file for the server's CPU profile; empty: none.
	Profile string
	// WarmUp passes before the measurement: deadlines settle on the callers'.
	WarmUp time.Duration
	// Rest bounds the wait for everything to be given back after the calls: SIP
	// keeps a transaction for 32 s (RFC 3261 timers H and J).
	Rest time.Duration
}

// Defaults of Call.
const (
	WarmUp = 4 * time.Second
	Rest   = 45 * time.Second
)

// codecBar is the most that a call in another codec than PCMU may cost, as a multiple of the same in PCMU.
const codecBar = 2.5

// The bars of processor time, as multiples of the floor.
func (c Call) bar() float64 {
	switch {
	case c.Denoise:
		return 4
	case c.VAD:
		return 3
	}
	return 2
}

func (c Call) name() string {
	switch {
	case c.Denoise:
		return "detector and denoiser"
	case c.VAD:
		return "detector"
	}
	return "neither detector nor denoiser"
}

// benchAgent is whom the callers reach.
func (c Call) agent() *benchAgent {
	a := newAgent(spoken)
	denoiser := denoise.Off
	if c.Denoise {
		denoiser = denoise.Spectral
	}
	if c.VAD || c.Denoise {
		a.front = func(rate media.Rate) (listen.FrontEnd, error) {
			return listen.NewFrontEnd(denoiser, vad.Spectral, rate)
		}
	}
	return a
}

// Run measures the floor, the calls, and the floor again.
func (c Call) Run(ctx context.Context) ([]Row, error) {
	if c.Calls < 1 || c.Length <= 0 {
		return nil, errors.New("no calls to measure")
	}
	switch c.Leg {
	case "", "sip":
	case "webrtc":
		return c.runWebRTC(ctx)
	default:
		return nil, fmt.Errorf("no callers come by %q: sip or webrtc", c.Leg)
	}
	before, err := c.floor(ctx)
	if err != nil {
		return nil, fmt.Errorf("floor: %w", err)
	}
	rows, cost, err := c.measure(ctx)
	if err != nil {
		return nil, err
	}
	after, err := c.floor(ctx)
	if err != nil {
		return nil, fmt.Errorf("floor: %w", err)
	}
	floor := (before + after) / 2
	g := group(rows[0].Group)
	first := []Row{g.beside("floor", floor, floor), g.beside("processor time of a call", cost, floor)}
	if c.Codec == codec.PCMU {
		return append(append(first, g.most("multiple of the floor", cost/floor, "x", c.bar())), rows...), nil
	}
	narrow := c
	narrow.Codec, narrow.Profile = codec.PCMU, "" // which the calls have filled
	_, plain, err := narrow.measure(ctx)
	if err != nil {
		return nil, fmt.Errorf("calls in PCMU: %w", err)
	}
	return append(append(first, g.beside("the same in PCMU", plain, floor), g.most("multiple of the same in PCMU", cost/plain, "x", codecBar)), rows...), nil
}

// loadProcess is a running generator.
type loadProcess struct {
	cmd *exec.Cmd
	in  io.Closer
	out *bufio.Reader
}

// start runs the generator and returns when its calls are up.
func (c Call) start(ctx context.Context, o loadOrder) (*loadProcess, error) {
	order, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, c.Generator[0], c.Generator[1:]...)
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	l := &loadProcess{cmd: cmd, in: in, out: bufio.NewReader(out)}
	if _, err = in.Write(append(order, '\n')); err == nil {
		_, err = l.out.ReadString('\n')
	}
	if err != nil {
		_ = in.Close()
		return nil, errors.Join(fmt.Errorf("load generator: %w", err), cmd.Wait())
	}
	return l, nil
}

// stop ends the calls and returns what the generator saw.
func (l *loadProcess) stop() (r loadResult, err error) {
	_ = l.in.Close()
	err = json.NewDecoder(l.out).Decode(&r)
	return r, errors.Join(err, l.cmd.Wait())
}

// window is the processor time in us for each packet that is sent while length
// passes: 20 ms of a call. Packets, not time, because a busy machine skips some.
func (c Call) window(ctx context.Context, length time.Duration, sent func() uint64) (float64, error) {
	begun, used := sent(), load.ProcessorTime()
	select {
	case <-time.After(length):
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	return float64((load.ProcessorTime() - used).Nanoseconds()) / 1000 / float64(max(1, sent()-begun)), nil
}

// measure makes the calls. The first result describes them, the second is their
// processor time in us a frame.
func (c Call) measure(ctx context.Context) ([]Row, float64, error) {
	t, err := newTelephone(agents{c.agent()}, c.Codec)
	if err != nil {
		return nil, 0, err
	}
	defer t.close()
	began := resourcesNow()
	result, cost, err := c.generate(ctx, loadOrder{Calls: c.Calls, URI: t.uri(0), Codec: c.Codec}, t.sent)
	if err != nil {
		return nil, 0, errors.Join(append(t.faults, err)...)
	}
	ended := c.awaitRelease(t, began)
	return c.rows(t, result, began, ended), cost, nil
}

// generate has the generator make calls, and measures the processor time of the packets that
// sent counts.
func (c Call) generate(ctx context.Context, o loadOrder, sent func() uint64) (loadResult, float64, error) {
	l, err := c.start(ctx, o)
	if err != nil {
		return loadResult{}, 0, err
	}
	cost, err := c.profiled(ctx, sent)
	result, stopErr := l.stop()
	return result, cost, errors.Join(err, stopErr)
}

// profiled measures the processor time after the warm-up, under a profile if one
// is wanted.
func (c Call) profiled(ctx context.Context, sent func() uint64) (float64, error) {
	if _, err := c.window(ctx, c.WarmUp, sent); err != nil {
		return 0, err
	}
	if c.Profile == "" {
		return c.window(ctx, c.Length, sent)
	}
	f, err := os.Create(c.Profile)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return 0, err
	}
	defer pprof.StopCPUProfile()
	return c.window(ctx, c.Length, sent)
}

// resources are what calls take and must give back.
type resources struct {
	goroutines, files int
	heap              uint64 // bytes
}

func resourcesNow() resources {
	runtime.GC()
	runtime.GC() // what pools keep goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd") // elsewhere not counted
	return resources{runtime.NumGoroutine(), len(files), m.HeapAlloc}
}

// awaitRelease waits until the calls have given everything back, or as long as Rest.
func (c Call) awaitRelease(t *telephone, began resources) resources {
	for deadline := time.Now().Add(c.Rest); ; time.Sleep(500 * time.Millisecond) {
		ports := t.ports.Stats() // closes those that have drained
		now := resourcesNow()
		back := ports.InUse == 0 && ports.Draining == 0 && t.ua.Stats().Calls == 0 &&
			now.goroutines <= began.goroutines && now.files <= began.files && c.heap(began, now) <= heapBar
		if back || time.Now().After(deadline) {
			return now
		}
	}
}

// heapBar is the memory in KiB that a call may leave behind: caches grow once.
const heapBar = 8

// heap is how much memory in KiB each call has left behind.
func (c Call) heap(began, now resources) float64 {
	return max(0, float64(now.heap)-float64(began.heap)) / 1024 / float64(c.Calls)
}

// rows describe the calls.
func (c Call) rows(t *telephone, r loadResult, began, ended resources) []Row {
	t.mu.Lock()
	defer t.mu.Unlock()
	in := ""
	if c.Codec != codec.PCMU {
		in = " in " + c.Codec.String()
	}
	g, total := group(fmt.Sprintf("%d calls%s, %s", c.Calls, in, c.name())), t.total()
	ms := func(q float64) float64 { return milliseconds(total.Lateness.Quantile(q)) }
	return []Row{
		g.most("calls dropped", float64(max(r.Dropped, c.Calls-t.hungUp)), "", 0),
		g.most("packets lost at the caller", float64(r.Lost), "", 0),
		g.most("packets lost at the server", float64(total.Lost), "", 0),
		g.row("frames skipped by the server", float64(total.Skipped), ""),
		g.row("sent late p50, at most", ms(0.5), "ms"), g.row("sent late p99, at most", ms(0.99), "ms"),
		g.most("sent late p99.9, at most", ms(0.999), "ms", 10), g.row("sent late max", ms(1), "ms"),
		g.row("agent speaking", percent(r.Audible, r.Frames), "%"),
		g.row("late packets of the generator", percent(r.Late, r.Sent), "%"),
		g.most("goroutines not given back", float64(max(0, ended.goroutines-began.goroutines)), "", 0),
		g.most("files not given back", float64(max(0, ended.files-began.files)), "", 0),
		g.most("heap a call not given back", c.heap(began, ended), "KiB", heapBar),
	}
}
