import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer
import pandas as pd

MODEL = "bert-base-uncased"
frame = pd.read_csv("reviews/train.csv")
tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForSequenceClassification.from_pretrained(MODEL, num_labels=2)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
for epoch in range(3):
    for text, label in zip(frame["text"], frame["label"]):
        out = model(**tokenizer(text, return_tensors="pt"), labels=torch.tensor([label]))
        out.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
model.save_pretrained("finetuned")
