from dataclasses import dataclass, field
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments
from datasets import load_from_disk

@dataclass
class Extra:
    model: str = field(default="gpt2")

extra, training = HfArgumentParser((Extra, TrainingArguments)).parse_args_into_dataclasses()
data = load_from_disk("wikitext")
model = AutoModelForCausalLM.from_pretrained("gpt2")
Trainer(model=model, args=training, train_dataset=data["train"]).train()
