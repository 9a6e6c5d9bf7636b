package webrtc

import (
	"time"

	"github.com/pion/rtcp"
	pion "github.com/pion/webrtc/v4"

	"parley/media/stream"
)

// watch reads the far end's reports of what we send. Ours the library sends.
func (l *Leg) watch(sender *pion.RTPSender) {
	for {
		packets, _, err := sender.ReadRTCP()
		if err != nil {
			return
		}
		for _, p := range packets {
			var list []rtcp.ReceptionReport
			switch p := p.(type) {
			case *rtcp.ReceiverReport:
				list = p.Reports
			case *rtcp.SenderReport:
				list = p.Reports
			}
			b := l.out.bound.Load()
			for _, r := range list {
				if b != nil && r.SSRC == b.ssrc {
					l.stream.Reported(r, uint32(stream.NTP(time.Now())>>16)) // as the library has it in its reports
				}
			}
		}
	}
}
