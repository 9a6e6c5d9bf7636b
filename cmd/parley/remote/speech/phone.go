package speech

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/parley/remote/server"
	"parley/media"
	"parley/sip"
	"parley/sip/simulated"
)

func newPhoneCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "phone SIP_URI", Short: "Place a test call with a small softphone",
		Long: "Places a real SIP call, plays a WAV file to the far end, presses keys, records what the far end says and hangs up.\n" +
			"The URI may ask for TCP with ;transport=tcp.",
		Example: "  parley phone sip:+34911234567@127.0.0.1:5060 --in question.wav --out answer.wav\n  parley phone 'sip:+34911234567@127.0.0.1;transport=tcp' --dtmf 12#",
		Args:    cobra.ExactArgs(1)}
	in := cmd.Flags().String("in", "", "WAV file to play, - for standard input (WAV, or raw samples at 16 kHz)")
	out := cmd.Flags().String("out", "", "WAV file for what the far end said, - for standard output")
	digits := cmd.Flags().String("dtmf", "", "keys to press a second after the answer")
	from := cmd.Flags().String("from", "", "the number that calls")
	delay := cmd.Flags().Duration("delay", 3*time.Second, "how long to listen before playing")
	wait := cmd.Flags().Duration("wait", 8*time.Second, "how long to stay on the line after playing")
	longest := cmd.Flags().Duration("max", 10*time.Minute, "the longest the call may be")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var heard *server.Output
		if *out != "" {
			to, err := server.OpenOutput(cmd, *out, false)
			if err != nil {
				return err
			}
			defer to.Abandon()
			heard = to
		}
		cfg := simulated.PhoneConfig{URI: args[0], Number: *from, Digits: *digits, DigitsAfter: time.Second, Wait: *wait, MaxDuration: *longest}
		if *in != "" {
			samples, err := readClip(cmd, *in, media.Rate8k)
			if err != nil {
				return err
			}
			// Silence first: who speaks into the greeting interrupts it.
			cfg.Play = append(make([]int16, media.FromDuration(*delay).Samples(media.Rate8k)), samples...)
		}
		errOut := cmd.ErrOrStderr()
		cfg.Ringing = func(int) { fmt.Fprintln(errOut, "ringing") }
		result, err := simulated.Call(cmd.Context(), cfg)
		if result == nil {
			return notAnswered(err)
		}
		by := "we hung up"
		if result.FarEnd {
			by = "the far end hung up"
		}
		fmt.Fprintf(errOut, "answered after %v, talked for %v, %s\n", result.Ring.Round(time.Millisecond), result.Duration.Round(time.Millisecond), by)
		return errors.Join(err, writeClip(heard, result.Heard, media.Rate8k))
	}
	return cmd
}

// notAnswered says in a sentence why a call did not come up.
func notAnswered(err error) error {
	if no, ok := errors.AsType[*sip.NotAnswered](err); ok && no.Code != 0 {
		return fmt.Errorf("not answered: %d %s", no.Code, no.Phrase)
	}
	return err
}
