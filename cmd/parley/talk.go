package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/spf13/cobra"

	"parley/api/wsagent/client"
)

// talkFlags is what the talk command is told.
type talkFlags struct {
	url, key, agent         string
	in, out                 string
	prompt, voice, language string
	microphone, typed       bool
	quiet, longest          time.Duration
}

func newTalkCommand() *cobra.Command {
	var f talkFlags
	cmd := &cobra.Command{Use: "talk --agent ID", Short: "Talk to an agent over a WebSocket",
		Long: "Talks to an agent over /ws/agent and prints what both sides say. The caller is a WAV file (--in), your microphone\n" +
			"(--microphone, through ALSA's arecord and aplay), or what you type (--type, and without a microphone the default).\n" +
			"With --out what was heard is written to a WAV file. Without --agent, --prompt says what the agent is.",
		Example: "  parley talk --agent ag_… --in testdata/speech/opening-hours.wav --out answer.wav\n  parley talk --prompt 'We are open from nine to six.' --type",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			switch {
			case f.in != "":
				return f.play(ctx, cmd)
			case f.microphone:
				return f.speak(ctx, cmd)
			case !f.typed && hasSound():
				return f.speak(ctx, cmd)
			}
			return f.write(ctx, cmd)
		}}
	fl := cmd.Flags()
	serverFlags(cmd, &f.url, &f.key)
	fl.StringVar(&f.agent, "agent", "", "the agent's identifier")
	fl.StringVar(&f.in, "in", "", "WAV file to say, - for standard input")
	fl.StringVar(&f.out, "out", "", "WAV file for what was heard, - for standard output")
	fl.StringVar(&f.prompt, "prompt", "", "what an agent without identifier is")
	fl.StringVar(&f.voice, "voice", "", "its voice: F1 to F5, M1 to M5")
	fl.StringVar(&f.language, "language", "", "its language: en es ca gl eu pt fr it de")
	fl.BoolVar(&f.microphone, "microphone", false, "speak and listen")
	fl.BoolVar(&f.typed, "type", false, "type what you say, a line for each turn")
	fl.DurationVar(&f.quiet, "quiet", 2*time.Second, "with --in: how long the agent must have been silent before hanging up")
	fl.DurationVar(&f.longest, "max", 5*time.Minute, "the longest the conversation may be")
	cmd.MarkFlagsOneRequired("agent", "prompt")
	return cmd
}

// serverFlags adds where the server is and the key for it.
func serverFlags(cmd *cobra.Command, url, key *string) {
	base := os.Getenv("PARLEY_URL")
	if base == "" {
		base = "http://127.0.0.1:8080"
	}
	cmd.Flags().StringVar(url, "url", base, "address of the server (PARLEY_URL)")
	cmd.Flags().StringVar(key, "key", "", "API key (PARLEY_API_KEY)")
	cmd.PreRun = func(*cobra.Command, []string) {
		if *key == "" {
			*key = os.Getenv("PARLEY_API_KEY")
		}
	}
}

// play says a WAV file, prints the conversation and hangs up when it was answered.
func (f *talkFlags) play(ctx context.Context, cmd *cobra.Command) error {
	clip, err := readClip(f.in, client.RateIn)
	if err != nil {
		return err
	}
	show := &printer{out: cmd.ErrOrStderr()}
	result, err := client.Talk(ctx, client.TalkConfig{URL: f.url, Key: f.key, AgentID: f.agent, Voice: f.voice, Language: f.language, Prompt: f.prompt,
		Clip: clip, AwaitGreeting: true, Quiet: f.quiet, Max: f.longest, OnEvent: show.event})
	if err != nil {
		return err
	}
	for i, t := range result.Turns {
		fmt.Fprintf(show.out, "turn %d: the answer began %v after the question\n", i+1, t.Latency.Round(time.Millisecond))
	}
	if f.out != "" {
		if err := writeClip(f.out, result.Heard, client.RateOut, cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	return show.ended(result.Closed)
}

// endError is why the server ended a conversation that neither side had finished.
type endError struct {
	code string // such as "agent.not_found"; empty when the server gave none
	why  string
}

func (e *endError) Error() string { return e.why }

// printer shows a conversation as it goes.
type printer struct {
	out   io.Writer
	sound io.Writer    // nil: the voice is not heard
	fault client.Fault // the latest
}

// ended is nil when a conversation ended with a goodbye.
func (p *printer) ended(c client.Closed) error {
	switch {
	case c.Code == websocket.CloseNormalClosure, c.Code == websocket.CloseNoStatusReceived:
		return nil
	case c.Reason != "":
		return &endError{p.fault.Code, c.Reason}
	}
	return &endError{p.fault.Code, fmt.Sprintf("the connection was lost (%d)", c.Code)}
}

// event runs on the connection's reader.
func (p *printer) event(e client.Event) {
	switch e.Kind {
	case client.Transcript:
		fmt.Fprintf(p.out, "%-5s  %s\n", e.Role, e.Text)
	case client.Correction:
		fmt.Fprintf(p.out, "%-5s  %s  (instead)\n", e.Role, e.Text)
	case client.Error:
		p.fault = e.Fault
		fmt.Fprintf(p.out, "error  %s: %s %s\n", e.Fault.Code, e.Fault.Message, e.Fault.Detail)
	case client.Audio:
		if p.sound != nil {
			_ = binary.Write(p.sound, binary.LittleEndian, e.Samples) // a speaker that is gone ends the command by itself
		}
	}
}

// connect opens a conversation and configures its agent.
func (f *talkFlags) connect(ctx context.Context, show *printer) (*client.Client, error) {
	record := time.Duration(0)
	if f.out != "" {
		record = f.longest
	}
	c, err := client.Dial(ctx, f.url, f.key, f.agent, client.Options{OnEvent: show.event, Record: record})
	if err != nil {
		return nil, err
	}
	for _, s := range []struct{ kind, value string }{{"voice", f.voice}, {"language", f.language}, {"prompt", f.prompt}} {
		if s.value != "" {
			if err := c.Control(s.kind, s.value); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// converse runs a conversation whose caller is say, until either ends it.
func (f *talkFlags) converse(ctx context.Context, cmd *cobra.Command, show *printer, say func(ctx context.Context, c *client.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, f.longest)
	defer cancel()
	c, err := f.connect(ctx, show)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	var said error
	wg.Go(func() {
		defer cancel()
		said = say(ctx, c)
	})
	closed := c.Run(ctx)
	cancel()
	wg.Wait()
	if f.out != "" {
		if err := writeClip(f.out, c.Heard(time.Now()), client.RateOut, cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	if err := show.ended(closed); err != nil {
		return err
	}
	if errors.Is(said, context.Canceled) || errors.Is(said, context.DeadlineExceeded) {
		return nil
	}
	return said
}

// write types to the agent: a line is a turn, the end of input hangs up.
func (f *talkFlags) write(ctx context.Context, cmd *cobra.Command) error {
	show := &printer{out: cmd.OutOrStdout()}
	fmt.Fprintln(cmd.ErrOrStderr(), "Type to the agent; Ctrl-D hangs up.")
	lines := make(chan string)
	scan := bufio.NewScanner(cmd.InOrStdin())
	go func() { // ends with the process: reading a terminal cannot be interrupted
		defer close(lines)
		for scan.Scan() {
			lines <- scan.Text()
		}
	}()
	return f.converse(ctx, cmd, show, func(ctx context.Context, c *client.Client) error {
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case line, ok := <-lines:
				if !ok {
					return f.hearOut(ctx, c)
				}
				if err := c.SendText(line); err != nil {
					return err
				}
			}
		}
	})
}

// hearOut waits until the agent has answered the last line.
func (f *talkFlags) hearOut(ctx context.Context, c *client.Client) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	since := time.Now()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case now := <-tick.C:
			if quiet := c.QuietAt(); now.Sub(quiet) >= f.quiet && now.Sub(since) >= f.quiet {
				return nil
			}
		}
	}
}

func hasSound() bool {
	_, record := exec.LookPath("arecord")
	_, play := exec.LookPath("aplay")
	_, device := os.Stat("/dev/snd")
	return record == nil && play == nil && device == nil
}

// speak talks by microphone and speaker, through ALSA's programs.
func (f *talkFlags) speak(ctx context.Context, cmd *cobra.Command) error {
	if !hasSound() {
		return errors.New("there is no microphone: install alsa-utils, or use --in or --type")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	record := exec.CommandContext(ctx, "arecord", "-q", "-t", "raw", "-f", "S16_LE", "-c", "1", "-r", fmt.Sprint(int(client.RateIn)))
	play := exec.CommandContext(ctx, "aplay", "-q", "-t", "raw", "-f", "S16_LE", "-c", "1", "-r", fmt.Sprint(int(client.RateOut)))
	microphone, err := record.StdoutPipe()
	if err != nil {
		return err
	}
	speaker, err := play.StdinPipe()
	if err != nil {
		return err
	}
	for _, p := range []*exec.Cmd{record, play} {
		p.Stderr = cmd.ErrOrStderr()
		if err := p.Start(); err != nil {
			return err
		}
		defer func() { cancel(); _ = p.Wait() }()
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "Speak; Ctrl-C hangs up. Headphones keep the agent from hearing itself.")
	return f.converse(ctx, cmd, &printer{out: cmd.OutOrStdout(), sound: speaker}, func(ctx context.Context, c *client.Client) error {
		return sendMicrophone(ctx, c, microphone)
	})
}

// sendMicrophone sends 20 ms at a time.
func sendMicrophone(ctx context.Context, c *client.Client, in io.Reader) error {
	var raw [640]byte
	var samples [320]int16
	for ctx.Err() == nil {
		if _, err := io.ReadFull(in, raw[:]); err != nil {
			return err
		}
		for i := range samples {
			samples[i] = int16(binary.LittleEndian.Uint16(raw[2*i:]))
		}
		if err := c.Send(samples[:]); err != nil {
			return err
		}
	}
	return ctx.Err()
}
