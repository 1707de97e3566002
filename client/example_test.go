package client_test

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log"
	"maps"
	"os"

	"anodyne.example/anodyne/client"
)

func Example() {
	ctx := context.Background()
	c := client.New("https://anodyne.example.org", os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"))

	patient, err := c.CreatePatient(ctx, client.NewPatient{
		Name:        "Ada Example",
		DateOfBirth: "1980-02-29",
		Contact:     client.Contact{Email: "ada@example.org"},
	})
	if err != nil {
		log.Fatal(err)
	}

	// Change the record, unless somebody else did in the meantime.
	_, err = c.UpdatePatient(ctx, patient.ID, client.PatientPatch{
		Gender:  client.Set("female"),
		Contact: client.Set(client.ContactPatch{Email: client.Null[string]()}),
	}, client.WithIfMatch(patient.ETag))
	if client.IsCode(err, client.CodePreconditionFailed) {
		log.Print("read the patient again")
	} else if err != nil {
		log.Fatal(err)
	}
}

func ExampleWithPrivateKey() {
	text, err := os.ReadFile("key.pem") // written by openssl genpkey
	if err != nil {
		log.Fatal(err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		log.Fatal("key.pem has no PEM block")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		log.Fatal(err)
	}
	c := client.New("https://anodyne.example.org", os.Getenv("CLIENT_ID"), "", client.WithPrivateKey("key-1", key.(crypto.Signer)))
	if _, err := c.Token(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func ExampleClient_AllPatients() {
	ctx := context.Background()
	c := client.New("https://anodyne.example.org", os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"))
	for patient, err := range c.AllPatients(ctx, client.PatientQuery{Search: "exam"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(patient.ID, patient.Name)
	}
}

func ExampleClient_FollowEvents() {
	ctx := context.Background()
	c := client.New("https://anodyne.example.org", os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"))
	cursor := "" // or what was kept the last time
	for page, err := range c.FollowEvents(ctx, cursor) {
		if err != nil {
			log.Fatal(err)
		}
		for _, event := range page.Data {
			fmt.Println(event.Type, event.ID)
		}
		cursor = page.NextCursor // keep it: everything before it is dealt with
	}
}

func ExampleClient_CreateWebhook() {
	ctx := context.Background()
	c := client.New("https://anodyne.example.org", os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"))
	webhook, err := c.CreateWebhook(ctx, client.NewWebhook{
		URL:    "https://hooks.example.org/anodyne",
		Events: []client.EventType{client.EventPatientCreated, client.EventClinicalDataUpdated},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(webhook.ID) // and keep webhook.Secret, which is not shown again

	// What could not be delivered, and why.
	for delivery, err := range c.AllDeliveries(ctx, webhook.ID, client.DeliveryQuery{Status: client.DeliveryFailed}) {
		if err != nil {
			log.Fatal(err)
		}
		detail, err := c.Delivery(ctx, webhook.ID, delivery.ID)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(delivery.EventID, detail.Attempts[len(detail.Attempts)-1].Error)
	}
}

// Keep a copy of all records: apply the feed to its end, and read on whenever
// an event tells that something changed. A real program stores the records and
// both cursors, in one transaction, instead of keeping them in memory.
func ExampleClient_AllRecordChanges() {
	ctx := context.Background()
	c := client.New("https://anodyne.example.org", os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"))
	mirror := map[string]client.Record{}
	cursor := "" // or what was stored the last time
	catchUp := func() error {
		for page, err := range c.AllRecordChanges(ctx, client.FeedQuery{After: cursor}) {
			if err != nil {
				return err
			}
			for _, record := range page.Data {
				mirror[record.ID] = record
			}
			for _, patient := range page.RemovedPatients {
				maps.DeleteFunc(mirror, func(_ string, record client.Record) bool { return record.PatientID == patient })
			}
			cursor = page.NextCursor
		}
		return nil
	}
	if err := catchUp(); err != nil {
		log.Fatal(err)
	}
	for _, err := range c.FollowEvents(ctx, "") {
		if err == nil {
			err = catchUp()
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(mirror), "records")
	}
}
