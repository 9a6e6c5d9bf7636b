package sip

import (
	"errors"

	"parley/media"
)

// The details of how calls end here (media.Ended.Detail). AnsweredAfterCancel is that of a call
// that was answered after we gave it up: the carrier charges for it, our customer does not pay.
// The media has one of its own, mediasession.DetailOverflow.
const (
	AnsweredAfterCancel  media.EndDetail = "answered_after_cancel"
	DetailAuth           media.EndDetail = "carrier_auth"        // the carrier does not accept our credentials
	DetailCarriedOn      media.EndDetail = "carried_on"          // another user agent has adopted the call
	DetailCanceled       media.EndDetail = "canceled"            // the caller gave up
	DetailDeclined       media.EndDetail = "declined"            // by the callee
	DetailInvalidNumber  media.EndDetail = "invalid_number"      // there is no such number
	DetailNoACK          media.EndDetail = "no_ack"              // our answer was never confirmed
	DetailNoCodec        media.EndDetail = "no_common_codec"     // the far end's description and ours have nothing in common
	DetailNoKeys         media.EndDetail = "no_keys"             // the handshake that brings the keys of the media has failed, or never began
	DetailRedirected     media.EndDetail = "redirected"          // 3xx, which is not followed
	DetailSessionExpired media.EndDetail = "session_expired"     // the far end does not refresh, or has vanished
	DetailSpam           media.EndDetail = "blocked_as_spam"     // by an analytics service
	DetailUnavailable    media.EndDetail = "carrier_unavailable" // no server of the trunk can take the call
)

// reasonHeader is the Reason (RFC 3326) of a BYE that ends a call for cause;
// empty for an ordinary hang-up without one. It names nothing that is between
// us and our customer, such as money.
func reasonHeader(cause error) string {
	var e *media.Ended
	if !errors.As(cause, &e) {
		return ""
	}
	switch text := reasons[e.Detail]; {
	case text != "":
		return text
	case e.Reason == media.Failed && e.Detail != AnsweredAfterCancel:
		return `Q.850;cause=41;text="Temporary failure"`
	case e.Reason == media.MaxDuration:
		return `Q.850;cause=16;text="Maximum duration"`
	case e.Reason == media.Completed:
		return `SIP;cause=200;text="Call completed elsewhere"`
	}
	return `Q.850;cause=16;text="Normal call clearing"`
}

// reasons are those of details.
var reasons = map[media.EndDetail]string{
	media.MediaTimeout: `SIP;cause=408;text="RTP timeout"`, DetailNoACK: `SIP;cause=408;text="ACK timeout"`,
	DetailSessionExpired: `SIP;cause=408;text="Session expired"`, DetailNoCodec: `SIP;cause=488;text="Not Acceptable Here"`,
	DetailNoKeys: `SIP;cause=488;text="No keys"`,
}
