// Package speech has the commands that hear and speak: conversations with an agent, a softphone, synthesis, recognition and noise removal,
// and sounds of the account.
package speech

import "github.com/spf13/cobra"

// Commands are the commands of this package.
func Commands() []*cobra.Command {
	return []*cobra.Command{newTalkCommand(), newPhoneCommand(), newSynthCommand(), newTranscribeCommand(), newDenoiseCommand(), newSoundCommand()}
}
