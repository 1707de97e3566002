package webhooks

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// DeliveryStatus is the status of a delivery.
type DeliveryStatus int64

// The statuses, as stored.
const (
	Pending DeliveryStatus = iota
	Delivered
	Failed
)

var deliveryStatuses = [...]string{"pending", "delivered", "failed"}

// String returns the published name.
func (s DeliveryStatus) String() string { return deliveryStatuses[s] }

// ParseDeliveryStatus returns the status with the published name.
func ParseDeliveryStatus(word string) (DeliveryStatus, bool) {
	for i, known := range deliveryStatuses {
		if word == known {
			return DeliveryStatus(i), true
		}
	}
	return 0, false
}

// DeliveriesKept is how long a delivery is stored after its event, and how far
// back RecoverWebhook can reach.
const DeliveriesKept = 30 * 24 * time.Hour

// Delivery is the delivery of one event to one endpoint.
type Delivery struct {
	ID        id.Delivery
	Event     id.Event
	EventType event.Type
	Status    DeliveryStatus
	CreatedAt time.Time
	// NextAttemptAt is zero if there will be no further attempt.
	NextAttemptAt time.Time
	// Attempts are the latest maxAttempts, oldest first.
	Attempts []Attempt
	// Payload is the body to send. Only Org.Delivery sets it.
	Payload []byte
}

// Attempt is one attempt of a delivery.
type Attempt struct {
	At      time.Time
	Latency time.Duration
	// Status is the HTTP status, or 0 if there was no response.
	Status int
	// Answer is the beginning of the response body.
	Answer string
	// Error is the reason why the attempt failed, or empty if it succeeded.
	Error string
}

// DeliveryID returns the identifier of an event's delivery to an endpoint. It
// is a function of the endpoint, the event and its position in the journal, so
// that an event has one delivery to an endpoint, however often it is sent. It
// begins with the event's time and position, so that deliveries sort in the
// order of their events, even within one millisecond.
func DeliveryID(webhookID id.Webhook, eventID id.Event, pos journal.Pos) id.Delivery {
	sum := deliverySum(webhookID, eventID)
	return deliveryID(eventID, pos, sum[:])
}

// testDeliveryID returns the identifier for an event that is not in the
// journal, at the position that the journal had reached. It ends with the
// event's identifier, so that such deliveries sort in the order of their
// events, too.
func testDeliveryID(eventID id.Event, head journal.Pos) id.Delivery {
	return deliveryID(eventID, head, eventID.Bytes())
}

const (
	idClock = 6 // bytes of the time in an identifier
	idPos   = 4 // bytes of the end of the position, which follow
)

func deliveryID(eventID id.Event, pos journal.Pos, rest []byte) id.Delivery {
	b := append(make([]byte, 0, 16), eventID.Bytes()[:idClock]...)
	b = binary.BigEndian.AppendUint32(b, uint32(pos))
	return mustDelivery(append(b, rest[idClock+idPos:16]...))
}

// oldDeliveryID is DeliveryID as in earlier versions, whose deliveries are
// still stored.
func oldDeliveryID(webhookID id.Webhook, eventID id.Event) id.Delivery {
	sum := deliverySum(webhookID, eventID)
	copy(sum[:idClock], eventID.Bytes())
	return mustDelivery(sum[:16])
}

func deliverySum(webhookID id.Webhook, eventID id.Event) [sha256.Size]byte {
	return sha256.Sum256(append(append(make([]byte, 0, 32), webhookID.Bytes()...), eventID.Bytes()...))
}

func mustDelivery(b []byte) id.Delivery {
	delivery, err := id.FromBytes[id.DeliveryKind](b)
	if err != nil {
		panic(err) // 16 bytes are always valid
	}
	return delivery
}

// DeliveryQuery selects deliveries.
type DeliveryQuery struct {
	// Before is where to continue: the value returned with the previous page.
	// Zero starts with the newest.
	Before id.Delivery
	Limit  int
	// Status selects deliveries by status. nil selects all.
	Status *DeliveryStatus
	// EventType selects deliveries by event type. "" selects all.
	EventType event.Type
}

// deliveryScan bounds the number of rows that one call reads, whatever its
// filter.
const deliveryScan = 2000

// deliveryColumns lists the columns that scanDelivery reads.
const deliveryColumns = `id, event_id, event_type, status, created_at, next_attempt_at, attempts`

// Deliveries that are not delivered have an index, which is used only with the
// second condition.
const (
	deliveriesAll         = `SELECT ` + deliveryColumns + ` FROM webhook_delivery WHERE org_no = $1 AND webhook_no = $2 AND id < $3 ORDER BY id DESC LIMIT $4`
	deliveriesUndelivered = `SELECT ` + deliveryColumns + ` FROM webhook_delivery WHERE org_no = $1 AND webhook_no = $2 AND id < $3
		AND status = $5 AND status <> 1 ORDER BY id DESC LIMIT $4`
)

func scanDelivery(r engine.Row) (d Delivery, err error) {
	d = Delivery{EventType: event.Type(r.Text(2)), Status: DeliveryStatus(r.Int(3)), CreatedAt: engine.FromMillis(r.Int(4)), NextAttemptAt: engine.Moment(r, 5)}
	if d.ID, err = id.FromBytes[id.DeliveryKind](r.Raw(0)); err != nil {
		return d, err
	}
	if d.Event, err = id.FromBytes[id.EventKind](r.Raw(1)); err != nil {
		return d, err
	}
	d.Attempts, err = unpackAttempts(r.Raw(6))
	return d, err
}

// Deliveries calls each for deliveries to an endpoint, newest events first, and
// returns where to continue. The zero identifier means that there are no more.
// With a filter it may return few deliveries or none before the end is reached.
func (o Org) Deliveries(ctx context.Context, webhookID id.Webhook, q DeliveryQuery, each func(*Delivery)) (next id.Delivery, err error) {
	before := q.Before.Bytes()
	if q.Before.IsZero() {
		before = allDeliveries
	}
	sql, scan := deliveriesAll, q.Limit
	args := []any{int64(o.org), int64(0), before, 0}
	if q.Status != nil && *q.Status != Delivered {
		sql, args = deliveriesUndelivered, append(args, int64(*q.Status))
	}
	if q.EventType != "" || q.Status != nil {
		scan = deliveryScan
	}
	scan++ // one extra row tells whether there are more
	args[3] = scan
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		next = id.Delivery{}
		_, no, err := o.webhook(tx, webhookID)
		if err != nil {
			return err
		}
		args[1] = no
		looked, given, full := 0, 0, false
		var last id.Delivery
		err = tx.Query(sql, func(r engine.Row) error {
			looked++
			if full || looked == scan {
				next = last
				full = true
				return nil
			}
			d, err := scanDelivery(r)
			if err != nil {
				return err
			}
			last = d.ID
			if (q.Status == nil || d.Status == *q.Status) && (q.EventType == "" || d.EventType == q.EventType) {
				each(&d)
				given++
				full = given == q.Limit
			}
			return nil
		}, args...)
		return err
	})
	return next, err
}

const readDelivery = `SELECT ` + deliveryColumns + `, payload, pos FROM webhook_delivery WHERE org_no = $1 AND webhook_no = $2 AND id = $3`

// Delivery reads one delivery with its payload.
func (o Org) Delivery(ctx context.Context, webhookID id.Webhook, deliveryID id.Delivery) (d Delivery, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		_, no, err := o.webhook(tx, webhookID)
		if err != nil {
			return err
		}
		d, err = o.delivery(tx, readDelivery, no, deliveryID)
		return err
	})
	return d, err
}

func (o Org) delivery(tx engine.Tx, sql string, webhookNo int64, deliveryID id.Delivery) (d Delivery, err error) {
	found, pos := false, journal.Pos(0)
	if err := tx.Query(sql, func(r engine.Row) (err error) {
		found, pos = true, journal.Pos(r.Int(8))
		d, err = scanDelivery(r)
		d.Payload = []byte(r.Text(7))
		return err
	}, int64(o.org), webhookNo, deliveryID.Bytes()); err != nil {
		return d, err
	}
	if !found {
		return d, fault.Missing("delivery", deliveryID.String())
	}
	if pos == 0 {
		return d, nil
	}
	_, err = engine.One(tx, `SELECT at, event_data FROM journal WHERE org_no = $1 AND pos = $2`, func(r engine.Row) {
		e := event.Event{ID: d.Event, Type: d.EventType, At: engine.FromMillis(r.Int(0)), Data: r.Raw(1)}
		d.Payload = e.Append(nil)
	}, int64(o.org), int64(pos))
	return d, err
}
