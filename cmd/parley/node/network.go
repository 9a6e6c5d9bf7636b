package node

import (
	"context"
	"net/netip"

	"parley/inference"
	"parley/media"
	"parley/media/resample"
	"parley/sip/simulated"
	"parley/sip/trunk"
)

// openNetwork makes the telephone network behind the simulated carrier.
func (n *Node) openNetwork() error {
	listen, err := netip.ParseAddrPort(n.cfg.CarrierSIPAddr)
	if err != nil {
		return err
	}
	n.person = simulated.Person
	n.network, err = simulated.NewCarrier(simulated.CarrierConfig{Listen: listen, Voice: n.calleeVoice, Logger: n.log})
	return err
}

// networkTrunk is the line to it.
func (n *Node) networkTrunk() trunk.Config {
	at := n.network.Addr()
	return trunk.Config{Name: "simulated", Flags: trunk.NoProbe | trunk.UserPhone | trunk.PAI | trunk.Diverts,
		Targets: []trunk.Target{{Host: at.Addr().String(), Port: at.Port()}}}
}

// calleeVoice speaks for the people and machines that the network plays.
func (n *Node) calleeVoice(ctx context.Context, text string) ([]int16, error) {
	if line, ok := n.person(text); ok {
		return line, nil
	}
	var all []int16
	rate := media.Rate8k
	for chunk, err := range n.engines.TTS.Speak(ctx, inference.Speech{Text: text, VoiceConfig: inference.VoiceConfig{Voice: "M2", Language: "en"}}) {
		if err != nil {
			return nil, err
		}
		rate = chunk.Rate
		all = append(all, chunk.Samples...)
	}
	return resample.All(all, rate, media.Rate8k), nil
}
