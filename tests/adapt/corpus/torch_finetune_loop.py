import argparse
import os
import torch
from tqdm import trange
from transformers import AdamW, AutoModelForSequenceClassification, get_linear_schedule_with_warmup


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data_dir", required=True)
    parser.add_argument("--output_dir", required=True)
    parser.add_argument("--model_name_or_path", default="bert-base-uncased")
    parser.add_argument("--epochs", type=float, default=3.0)
    args = parser.parse_args()
    model = AutoModelForSequenceClassification.from_pretrained(args.model_name_or_path)
    batches = torch.load(os.path.join(args.data_dir, "cached_train"))
    groups = [{"params": [value for _, value in model.named_parameters()], "weight_decay": 0.01}]
    optimizer = AdamW(groups, lr=5e-5)
    scheduler = get_linear_schedule_with_warmup(optimizer, 0, 100)
    total = 0.0
    rounds = trange(int(args.epochs), desc="Epoch")
    for _ in rounds:
        for batch in batches:
            loss = model(**batch)[0]
            loss.backward()
            optimizer.step()
            scheduler.step()
            model.zero_grad()
            total += loss.item()
    model.save_pretrained(args.output_dir)


if __name__ == "__main__":
    main()
